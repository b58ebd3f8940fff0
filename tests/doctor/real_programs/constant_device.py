# culprit: noise | DEVICE
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn

DEVICE = "cpu"


def get_noise(n, z_dim):
    return torch.randn(n, z_dim, device=DEVICE)


class Gen(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 6)

    def forward(self, real):
        noise = get_noise(real.size(0), 4)
        return self.net(noise) + real


def main():
    for dev in ("cuda", "cpu"):
        g = Gen().to(dev)
        out = g(torch.randn(3, 6, device=dev))
        assert out.device.type == dev
