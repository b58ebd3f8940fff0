# culprit: a | self.sqrt_alphas_cumprod | self.sqrt_one_minus_alphas_cumprod
# cause: tensor_created_in_forward_without_device | unregistered_tensor_attribute | index_on_wrong_device
import torch
import torch.nn.functional as F
from torch import nn


def extract(a, t, x_shape):
    out = a.gather(-1, t)
    return out.reshape(t.shape[0], *((1,) * (len(x_shape) - 1)))


class GaussianDiffusion:
    def __init__(self, timesteps=100, beta_start=1e-4, beta_end=0.02):
        self.timesteps = timesteps
        betas = torch.linspace(beta_start, beta_end, timesteps)
        alphas_cumprod = torch.cumprod(1.0 - betas, dim=0)
        self.sqrt_alphas_cumprod = torch.sqrt(alphas_cumprod)
        self.sqrt_one_minus_alphas_cumprod = torch.sqrt(1.0 - alphas_cumprod)

    def q_sample(self, x0, t, noise):
        return (
            extract(self.sqrt_alphas_cumprod, t, x0.shape) * x0
            + extract(self.sqrt_one_minus_alphas_cumprod, t, x0.shape) * noise
        )

    def p_losses(self, model, x0, t):
        noise = torch.randn_like(x0)
        x_t = self.q_sample(x0, t, noise)
        return F.mse_loss(model(x_t), noise)


def main():
    device = torch.device("cuda")
    model = nn.Conv2d(3, 3, 3, padding=1).to(device)
    diffusion = GaussianDiffusion()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(2):
        x0 = torch.rand(4, 3, 8, 8).to(device)
        t = torch.randint(0, diffusion.timesteps, (x0.size(0),), device=device)
        loss = diffusion.p_losses(model, x0, t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
