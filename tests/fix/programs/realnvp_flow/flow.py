import torch
import torch.nn as nn
from torch import distributions


def mlp(dim, hidden, last):
    return nn.Sequential(nn.Linear(dim, hidden), nn.LeakyReLU(), nn.Linear(hidden, dim), last)


class RealNVP(nn.Module):
    def __init__(self, layers=4, dim=2, hidden=16):
        super().__init__()
        self.mask = torch.tensor([[0.0, 1.0], [1.0, 0.0]] * (layers // 2))
        self.prior = distributions.MultivariateNormal(torch.zeros(dim), torch.eye(dim))
        self.t = nn.ModuleList([mlp(dim, hidden, nn.Identity()) for _ in range(layers)])
        self.s = nn.ModuleList([mlp(dim, hidden, nn.Tanh()) for _ in range(layers)])

    def g(self, z):
        x = z
        for i in range(len(self.t)):
            x_ = x * self.mask[i]
            s = self.s[i](x_) * (1 - self.mask[i])
            t = self.t[i](x_) * (1 - self.mask[i])
            x = x_ + (1 - self.mask[i]) * (x * torch.exp(s) + t)
        return x

    def f(self, x):
        log_det_J, z = x.new_zeros(x.shape[0]), x
        for i in reversed(range(len(self.t))):
            z_ = self.mask[i] * z
            s = self.s[i](z_) * (1 - self.mask[i])
            t = self.t[i](z_) * (1 - self.mask[i])
            z = (1 - self.mask[i]) * (z - t) * torch.exp(-s) + z_
            log_det_J -= s.sum(dim=1)
        return z, log_det_J

    def log_prob(self, x):
        z, logp = self.f(x)
        return self.prior.log_prob(z) + logp

    def sample(self, n):
        return self.g(self.prior.sample((n,)))
