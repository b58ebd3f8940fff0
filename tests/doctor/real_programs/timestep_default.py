# culprit: freqs | device
# cause: tensor_created_in_forward_without_device
import math
import torch
from torch import nn


def timestep_embedding(timesteps, dim, max_period=10000, device="cpu"):
    half = dim // 2
    freqs = torch.exp(-math.log(max_period) * torch.arange(half, dtype=torch.float32, device=device) / half)
    args = timesteps[:, None].float() * freqs[None]
    return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)


class UNet(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.dim = dim
        self.time_embed = nn.Linear(dim, dim)

    def forward(self, x, timesteps):
        emb = self.time_embed(timestep_embedding(timesteps, self.dim))
        return x + emb


def main():
    for dev in ("cuda", "cpu"):
        m = UNet().to(dev)
        out = m(torch.randn(3, 8, device=dev), torch.tensor([1, 2, 3], device=dev))
        assert out.device.type == dev
