# culprit: eps
# cause: data_parallel_unreplicated_state
import torch
import torch.nn.functional as F
from torch import nn


class VAE(nn.Module):
    def __init__(self, in_dim=20, latent=4, device=torch.device("cuda:0")):
        super().__init__()
        self.device, self.latent = device, latent
        self.encoder = nn.Sequential(nn.Linear(in_dim, 16), nn.ReLU(), nn.Linear(16, 2 * latent))
        self.decoder = nn.Sequential(nn.Linear(latent, 16), nn.ReLU(), nn.Linear(16, in_dim))

    def reparameterize(self, mu, logvar):
        eps = torch.randn(mu.size(0), self.latent, device=self.device)
        return mu + torch.exp(0.5 * logvar) * eps

    def forward(self, x):
        mu, logvar = self.encoder(x).chunk(2, dim=1)
        return self.decoder(self.reparameterize(mu, logvar)), mu, logvar


def elbo(recon, x, mu, logvar):
    kld = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
    return F.mse_loss(recon, x) + kld


def main():
    device = torch.device("cuda:0")
    model = VAE(device=device).to(device)
    if torch.cuda.device_count() > 1:
        model = nn.DataParallel(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    x = torch.rand(8, 20).to(device)
    recon, mu, logvar = model(x)
    loss = elbo(recon, x, mu, logvar)
    loss.backward()
    optimizer.step()
