# culprit: total
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.log_scale = nn.Parameter(torch.full((size,), 0.5))

    def forward(self, x):
        return x * self.log_scale.exp(), self.log_scale.sum().expand(len(x))


class Flip(nn.Module):
    def forward(self, x):
        return self.reordered(x)

    @staticmethod
    def reordered(x):
        log_det = torch.zeros(len(x))
        return x.flip(1), log_det


class Keep(nn.Module):
    def forward(self, x):
        log_det = torch.zeros(x.shape[0])
        return x, log_det


class Chain(nn.Module):
    def __init__(self, *steps):
        super().__init__()
        self.steps = nn.ModuleList(steps)

    def forward(self, x):
        total = torch.zeros(len(x))
        for step in self.steps:
            x, log_det = step(x)
            total += log_det
        return x, total


def main():
    chain = Chain(Scale(4), Flip(), Scale(4), Keep()).to("cuda")
    y, log_det = chain(torch.randn(3, 4).to("cuda"))
    assert y.is_cuda and torch.allclose(log_det.cpu(), torch.full((3,), 4.0))
    assert not chain.cpu()(torch.randn(3, 4))[1].is_cuda
