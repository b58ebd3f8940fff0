# culprit: self.low
# cause: unregistered_tensor_attribute | metric_or_accumulator_state
import torch
from torch import nn


class PerChannelMinMax:
    def __init__(self, channels, bits=8):
        self.bits = bits
        self.low = torch.full((channels,), float("inf"))
        self.high = torch.full((channels,), float("-inf"))

    def observe(self, x):
        flat = x.detach().transpose(0, 1).flatten(1)
        self.low = torch.minimum(self.low, flat.amin(1))
        self.high = torch.maximum(self.high, flat.amax(1))

    def qparams(self):
        levels = 2 ** self.bits - 1
        scale = (self.high - self.low).clamp(min=1e-8) / levels
        return scale, (-self.low / scale).round().clamp(0, levels)


class FakeQuant(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.observer = PerChannelMinMax(channels)
        self.calibrating = True

    def forward(self, x):
        if self.calibrating:
            self.observer.observe(x)
            return x
        scale, zero = (p.view(1, -1, 1, 1) for p in self.observer.qparams())
        q = (x / scale + zero).round().clamp(0, 255)
        return (q - zero) * scale


def build():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), FakeQuant(8), nn.ReLU(),
        nn.Conv2d(8, 4, 3, padding=1), FakeQuant(4), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
    )


@torch.no_grad()
def main():
    device = torch.device("cuda")
    model = build().to(device).eval()
    for _ in range(3):
        model(torch.rand(4, 3, 8, 8, device=device))
    for module in model.modules():
        if isinstance(module, FakeQuant):
            module.calibrating = False
    return model(torch.rand(1, 3, 8, 8, device=device)).tolist()
