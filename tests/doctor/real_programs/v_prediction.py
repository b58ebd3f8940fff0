# culprit: self.alphas_cumprod
# cause: index_on_wrong_device | unregistered_tensor_attribute
import math
import torch
from torch import nn


class CosineSchedule:
    def __init__(self, timesteps=100, s=0.008):
        steps = torch.arange(timesteps + 1, dtype=torch.float64) / timesteps
        f = torch.cos((steps + s) / (1 + s) * math.pi / 2) ** 2
        self.timesteps = timesteps
        self.alphas_cumprod = (f[1:] / f[0]).clamp(min=1e-5).float()

    def coefficients(self, t, ndim):
        a = self.alphas_cumprod[t].view(-1, *([1] * (ndim - 1)))
        return a.sqrt(), (1 - a).sqrt()

    def velocity(self, x0, noise, t):
        alpha, sigma = self.coefficients(t, x0.ndim)
        return alpha * noise - sigma * x0

    def add_noise(self, x0, noise, t):
        alpha, sigma = self.coefficients(t, x0.ndim)
        return alpha * x0 + sigma * noise


class Denoiser(nn.Module):
    def __init__(self, dim=12, steps=100):
        super().__init__()
        self.time = nn.Embedding(steps, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 48), nn.SiLU(), nn.Linear(48, dim))

    def forward(self, x, t):
        return self.mlp(x + self.time(t))


def training_losses(model, schedule, x0):
    t = torch.randint(0, schedule.timesteps, (x0.shape[0],), device=x0.device)
    noise = torch.randn_like(x0)
    xt = schedule.add_noise(x0, noise, t)
    return nn.functional.mse_loss(model(xt, t), schedule.velocity(x0, noise, t))


def main():
    device = torch.device("cuda:0")
    schedule = CosineSchedule()
    model = Denoiser().to(device)
    optimizer = torch.optim.Adam(model.parameters())
    x0 = torch.randn(16, 12, device=device)
    loss = training_losses(model, schedule, x0)
    loss.backward()
    optimizer.step()
