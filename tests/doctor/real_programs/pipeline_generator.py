# culprit: generator
# cause: generator_device
import torch
from torch import nn


class Scheduler:
    init_noise_sigma = 1.0

    def __init__(self, steps):
        self.timesteps = list(range(steps))[::-1]

    def step(self, noise_pred, t, latents):
        return latents - 0.1 * noise_pred


class Pipeline:
    def __init__(self, unet, scheduler):
        self.unet, self.scheduler = unet, scheduler

    @property
    def device(self):
        return next(self.unet.parameters()).device

    def to(self, device):
        self.unet.to(device)
        return self

    @torch.no_grad()
    def __call__(self, batch_size=1, height=8, width=8, generator=None):
        shape = (batch_size, 4, height, width)
        latents = torch.randn(shape, generator=generator, device=self.device)
        latents = latents * self.scheduler.init_noise_sigma
        for t in self.scheduler.timesteps:
            latents = self.scheduler.step(self.unet(latents), t, latents)
        return latents.cpu()


def main():
    pipe = Pipeline(nn.Conv2d(4, 4, 3, padding=1), Scheduler(3)).to("cuda")
    generator = torch.Generator().manual_seed(42)
    return pipe(batch_size=2, generator=generator)
