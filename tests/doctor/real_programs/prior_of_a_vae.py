# culprit: self.prior_mean
# cause: unregistered_tensor_attribute
import torch
from torch import nn


class VAE(nn.Module):
    def __init__(self, dim=4):
        super().__init__()
        self.dim = dim
        self.enc = nn.Linear(dim, 2 * dim)
        self.prior_mean = torch.zeros(dim)

    def sample(self, n):
        return torch.randn(n, self.dim, device=self.prior_mean.device) + self.prior_mean

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, -1)
        eps = self.sample(mu.shape[0])
        return mu + eps * (0.5 * logvar).exp()


def main():
    for dev in ("cuda", "cpu"):
        m = VAE().to(dev)
        out = m(torch.randn(3, 4, device=dev))
        assert out.device.type == dev
        assert m.prior_mean.device.type == dev
