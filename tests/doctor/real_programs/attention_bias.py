# culprit: positions
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, causal=True):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)
        self.pos = nn.Embedding(64, dim)
        self.causal = causal

    def forward(self, x):
        batch, length, dim = x.shape
        positions = torch.arange(length)
        x = x + self.pos(positions)
        q, k, v = self.qkv(x).chunk(3, -1)
        scores = q @ k.transpose(1, 2) / dim**0.5
        if self.causal:
            mask = torch.triu(torch.ones(length, length, dtype=torch.bool), 1)
            scores = scores.masked_fill(mask, float("-inf"))
        bias = torch.zeros(length)
        return (scores + bias).softmax(-1) @ v


def main():
    model = Attention(8).cuda()
    out = model(torch.randn(2, 5, 8, device="cuda"))
    assert out.is_cuda
