# culprit: self.sqrt_alphas_cumprod
# cause: unregistered_tensor_attribute
import torch
from torch import nn


class ScheduleBase(nn.Module):
    def __init__(self, steps):
        super().__init__()
        betas = torch.linspace(1e-4, 0.02, steps)
        alphas = 1.0 - betas
        self.steps = steps
        self.betas = betas
        self.alphas_cumprod = torch.cumprod(alphas, 0)
        self.sqrt_alphas_cumprod = self.alphas_cumprod.sqrt()

    def q_sample(self, x, t, noise):
        a = self.sqrt_alphas_cumprod[t][:, None]
        b = (1 - self.alphas_cumprod)[t][:, None].sqrt()
        return a * x + b * noise


class Denoiser(ScheduleBase):
    def __init__(self, dim, steps=10):
        super().__init__(steps)
        self.net = nn.Linear(dim + 1, dim)
        self.loss_weight = torch.linspace(1, 2, steps)

    def forward(self, x, t, noise):
        noisy = self.q_sample(x, t, noise)
        pred = self.net(torch.cat([noisy, t[:, None] / self.steps], 1))
        loss = (pred - noise).pow(2).mean(1)
        return (self.loss_weight[t] * loss + self.betas[t]).mean()


def main():
    model = Denoiser(4).to("cuda")
    x = torch.randn(3, 4, device="cuda")
    loss = model(x, torch.randint(0, 10, (3,), device="cuda"), torch.randn_like(x))
    assert loss.is_cuda
