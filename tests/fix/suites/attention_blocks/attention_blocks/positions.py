import math

import torch
import torch.nn as nn


class Rotary(nn.Module):
    def __init__(self, dim, max_len=32):
        super().__init__()
        inv_freq = 1.0 / (10000 ** (torch.arange(0, dim, 2).float() / dim))
        angles = torch.outer(torch.arange(max_len).float(), inv_freq)
        self.cos, self.sin = angles.cos(), angles.sin()

    def forward(self, x):
        n = x.size(-2)
        x1, x2 = x.chunk(2, dim=-1)
        cos, sin = self.cos[:n], self.sin[:n]
        return torch.cat([x1 * cos - x2 * sin, x1 * sin + x2 * cos], dim=-1)


def relative_buckets(bias, length):
    """The T5 way, without the logarithm: one bias a distance, clipped at the table's end."""
    context = torch.arange(length)
    distance = (context[:, None] - context[None, :]).abs().clamp(max=bias.size(0) - 1)
    slope = distance / math.sqrt(length)
    return bias[distance] - slope
