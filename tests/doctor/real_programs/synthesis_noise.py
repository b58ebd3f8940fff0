# culprit: noise | noises
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn


def make_noises(shapes, std=0.1):
    noises = [torch.randn(s) * std for s in shapes]
    return noises


class Synthesis(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv2d(3, 3, 3, padding=1) for _ in range(2)])

    def noise_shapes(self, x):
        return [(x.shape[0], 1, x.shape[2], x.shape[3]) for _ in self.layers]

    def forward(self, x):
        noises = make_noises(self.noise_shapes(x))
        for conv, noise in zip(self.layers, noises):
            x = conv(x) + noise
        return x


def main():
    for dev in ("cuda", "cpu"):
        net = Synthesis().to(dev)
        out = net(torch.randn(1, 3, 4, 4, device=dev))
        assert out.device.type == dev
