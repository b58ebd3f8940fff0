import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from vae import VAE


@dataclass
class Config:
    seed: int = 7
    epochs: int = 4
    batch_size: int = 25
    beta: float = 0.5
    device: str = "cuda" if torch.cuda.is_available() else "cpu"


def elbo(model, x, beta):
    recon, mu, logvar, z = model(x)
    rec = F.mse_loss(recon, x, reduction="sum") / len(x)
    log_q = -0.5 * (logvar + (z - mu) ** 2 / logvar.exp() + math.log(2 * math.pi)).sum(1)
    kl = (log_q - model.prior.log_prob(z)).mean()
    return rec + beta * kl, rec, kl


def main(cfg):
    torch.manual_seed(cfg.seed)
    data = torch.randn(210, 3) @ torch.randn(3, 12)
    model = VAE().to(cfg.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(cfg.epochs):
        order = torch.randperm(len(data))
        sums = [0.0, 0.0]
        for idx in order.split(cfg.batch_size):
            loss, rec, kl = elbo(model, data[idx].to(cfg.device), cfg.beta)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            sums[0] += rec.item() * len(idx)
            sums[1] += kl.item() * len(idx)
        print(f"epoch {epoch}: rec {sums[0] / len(data):.4f} kl {sums[1] / len(data):.4f}")
    samples = model.sample(16)
    print(f"samples: mean {samples.mean().item():.5f} std {samples.std().item():.5f}")


if __name__ == "__main__":
    main(Config())
