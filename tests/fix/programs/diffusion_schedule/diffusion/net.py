import math

import torch as th
import torch.nn as nn


def timestep_embedding(timesteps, dim, max_period=10000):
    half = dim // 2
    freqs = th.exp(-math.log(max_period) * th.arange(start=0, end=half, dtype=th.float32) / half)
    args = timesteps[:, None].float() * freqs[None]
    return th.cat([th.cos(args), th.sin(args)], dim=-1)


class Denoiser(nn.Module):
    def __init__(self, dim=2, hidden=32, t_dim=8):
        super().__init__()
        self.t_dim = t_dim
        self.time = nn.Sequential(nn.Linear(t_dim, hidden), nn.SiLU())
        self.inp, self.out = nn.Linear(dim, hidden), nn.Linear(hidden, dim)

    def forward(self, x, t):
        h = self.inp(x) + self.time(timestep_embedding(t, self.t_dim))
        return self.out(nn.functional.silu(h))
