# culprit: self.bias
# cause: unregistered_tensor_attribute
import torch
from torch import nn


class Cache(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.lin = nn.Linear(dim, dim)
        self.table = torch.randn(10, dim)
        self.bias = torch.randn(dim)
        self.fallback = torch.zeros(dim)

    def forward(self, x, index):
        if self.table.device != x.device:
            self.table = self.table.to(x.device)
        h = self.lin(x) + self.table[index]
        h = h + self.bias
        if not x.is_cuda:
            h = h + self.fallback
        return h


def main():
    model = Cache(4).cuda()
    assert model(torch.randn(2, 4, device="cuda"), torch.tensor([1, 2], device="cuda")).is_cuda
    assert not model.fallback.is_cuda
