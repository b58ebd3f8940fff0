# culprit: position_bias(length)
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn


def position_bias(length):
    pos = torch.arange(length)
    return -(pos[None] - pos[:, None]).abs().float()


def causal_mask(length):
    return torch.tril(torch.ones(length, length))


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)

    def forward(self, x):
        length = x.size(1)
        scores = self.q(x) @ self.k(x).transpose(1, 2)
        scores = scores + position_bias(length)
        scores = scores.masked_fill(causal_mask(length) == 0, -1e9)
        drop = torch.rand(length, length) < 0.1
        scores = torch.where(drop, torch.full_like(scores, -1e9), scores)
        return scores.softmax(-1) @ x


def main():
    model = Block(4).cuda()
    assert model(torch.randn(2, 5, 4, device="cuda")).is_cuda
