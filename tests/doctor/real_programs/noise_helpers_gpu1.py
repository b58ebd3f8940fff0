# culprit: self.noise(*x.shape)
# cause: wrong_default_index
import torch
from torch import nn


class Sampler(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.net = nn.Linear(dim, dim)

    def noise(self, n, dim):
        return torch.randn(n, dim).cuda()

    def mask(self, n, dim):
        return (torch.rand(n, dim) > 0.5).float().cuda()

    def forward(self, x):
        z = x + self.noise(*x.shape)
        z = self.net(z)
        return z * self.mask(*x.shape)


def main():
    model = Sampler(4).to("cuda:1")
    out = model(torch.randn(3, 4, device="cuda:1"))
    assert str(out.device) == "cuda:1"
