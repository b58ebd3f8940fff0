import torch
import torch.nn as nn
from attention_blocks import masks
from attention_blocks.positions import Rotary, relative_buckets


class SelfAttention(nn.Module):
    def __init__(self, dim, window=None, relative=False):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.rotary = Rotary(dim)
        self.bias = nn.Parameter(torch.linspace(0.5, -0.5, 8)) if relative else None
        self.window = window

    def forward(self, x, lengths=None):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = self.rotary(q) @ self.rotary(k).transpose(-2, -1) / x.size(-1) ** 0.5
        if self.bias is not None:
            scores = scores + relative_buckets(self.bias, x.size(1))
        if self.window is not None:
            scores = masks.sliding_window(scores, self.window)
        if lengths is not None:
            scores = masks.padding(scores, lengths)
        return scores.softmax(dim=-1) @ v
