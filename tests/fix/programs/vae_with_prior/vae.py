import math

import torch
import torch.nn as nn


class MixturePrior:
    """Mixture of unit Gaussians on a circle; its means are fixed."""

    def __init__(self, components, dim):
        angle = torch.arange(components) * (2 * math.pi / components)
        self.means = torch.zeros(components, dim)
        self.means[:, 0], self.means[:, 1] = 2 * angle.cos(), 2 * angle.sin()


    def log_prob(self, z):
        diff = z.unsqueeze(1) - self.means
        log_p = -0.5 * (diff**2 + math.log(2 * math.pi)).sum(-1)
        return torch.logsumexp(log_p, dim=1) - math.log(len(self.means))


class VAE(nn.Module):
    def __init__(self, in_dim=12, z_dim=3, components=4):
        super().__init__()
        self.z_dim = z_dim
        self.encoder = nn.Sequential(nn.Linear(in_dim, 24), nn.Tanh())
        self.fc_mu, self.fc_logvar = nn.Linear(24, z_dim), nn.Linear(24, z_dim)
        self.decoder = nn.Sequential(nn.Linear(z_dim, 24), nn.Tanh(), nn.Linear(24, in_dim))
        self.prior = MixturePrior(components, z_dim)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def forward(self, x):
        h = self.encoder(x)
        mu, logvar = self.fc_mu(h), self.fc_logvar(h)
        z = self.reparameterize(mu, logvar)
        return self.decoder(z), mu, logvar, z

    @torch.no_grad()
    def sample(self, n):
        which = torch.arange(n) % len(self.prior.means)
        z = self.prior.means[which] + torch.randn(n, self.z_dim)
        return self.decoder(z)
