# culprit: generator
# cause: generator_device
import torch
from torch import nn


class AncestralScheduler:
    def __init__(self, steps=5):
        self.sigmas = torch.linspace(1.0, 0.0, steps + 1).tolist()

    def step(self, denoised, sample, i, generator=None):
        sigma, sigma_next = self.sigmas[i], self.sigmas[i + 1]
        direction = (sample - denoised) / sigma
        sample = denoised + direction * sigma_next
        noise = torch.randn(sample.shape, generator=generator,
                            device=sample.device, dtype=sample.dtype)
        return sample + 0.5 * sigma_next * noise


class Denoiser(nn.Module):
    def __init__(self, channels=4):
        super().__init__()
        self.net = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, latents, sigma):
        return self.net(latents / (1 + sigma ** 2) ** 0.5)


@torch.no_grad()
def main():
    device = torch.device("cuda:0")
    denoiser = Denoiser().to(device)
    scheduler = AncestralScheduler()
    generator = torch.Generator().manual_seed(1234)
    latents = torch.randn(1, 4, 8, 8).to(device)
    for i, sigma in enumerate(scheduler.sigmas[:-1]):
        denoised = denoiser(latents, sigma)
        latents = scheduler.step(denoised, latents, i, generator=generator)
    return latents.clamp(-1, 1).cpu()
