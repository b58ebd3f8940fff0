# culprit: self.cos
# cause: kept_by_a_plain_object | unregistered_tensor_attribute
import torch
from torch import nn


class Rotary:
    def __init__(self, dim, length, base=10000.0):
        inv = 1.0 / base ** (torch.arange(0, dim, 2).float() / dim)
        angles = torch.outer(torch.arange(length).float(), inv)
        self.cos = angles.cos()
        self.sin = angles.sin()

    def rotate(self, x):
        n = x.shape[1]
        cos, sin = self.cos[:n], self.sin[:n]
        x1, x2 = x[..., ::2], x[..., 1::2]
        return torch.cat([x1 * cos - x2 * sin, x1 * sin + x2 * cos], -1)


class Layer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q, self.k = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.rotary = Rotary(dim, 32)
        self.temperature = torch.full((32,), 2.0)

    def forward(self, x):
        q, k = self.rotary.rotate(self.q(x)), self.rotary.rotate(self.k(x))
        scores = q @ k.transpose(1, 2) / self.temperature[: x.shape[1]]
        return scores.softmax(-1) @ x


def main():
    layer = Layer(8).to("cuda")
    assert layer(torch.randn(2, 5, 8, device="cuda")).is_cuda
