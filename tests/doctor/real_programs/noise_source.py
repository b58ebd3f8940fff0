# culprit: noise | eps
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn


class GaussianNoise:
    def __init__(self, dim, scale=1.0):
        self.dim = dim
        self.scale = scale

    def sample(self, n):
        eps = torch.randn(n, self.dim)
        return eps * self.scale


class Generator(nn.Module):
    def __init__(self, dim=6):
        super().__init__()
        self.noise = GaussianNoise(dim, 0.1)
        self.net = nn.Linear(dim, dim)

    def forward(self, z):
        h = self.net(z)
        noise = self.noise.sample(z.shape[0])
        return h + noise


def main():
    for dev in ("cuda", "cpu"):
        g = Generator().to(dev)
        out = g(torch.randn(3, 6, device=dev))
        assert out.device.type == dev
