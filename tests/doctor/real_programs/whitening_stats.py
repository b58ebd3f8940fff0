# culprit: self.mean | self.std
# cause: unregistered_tensor_attribute
import os
import tempfile
import torch
from torch import nn


class Normalizer(nn.Module):
    def __init__(self, path):
        super().__init__()
        stats = torch.load(path, map_location="cpu")
        self.mean = stats["mean"]
        self.std = stats["std"].clamp(min=1e-4)

    def forward(self, x):
        return (x - self.mean) / self.std

    def inverse(self, y):
        return y * self.std + self.mean


class WeatherModel(nn.Module):
    def __init__(self, stats_path, n_vars=4):
        super().__init__()
        self.norm = Normalizer(stats_path)
        self.net = nn.Conv2d(n_vars, n_vars, 3, padding=1, padding_mode="circular")

    def forward(self, x):
        return self.norm.inverse(self.net(self.norm(x)))


def main():
    cfg = {"device": "cuda", "lead_steps": 2}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stats.pt")
        fields = torch.randn(10, 4, 8, 8)
        mean, std = fields.mean((0, 2, 3)), fields.std((0, 2, 3))
        torch.save({"mean": mean[:, None, None], "std": std[:, None, None]}, path)
        model = WeatherModel(path).to(cfg["device"])
    state = fields[:2].to(cfg["device"])
    for _ in range(cfg["lead_steps"]):
        state = model(state)
    return state
