# culprit: sigma | sigmas[idx] | sigmas | sample_sigmas(self.sigmas, x.shape[0]) | self.sigmas
# cause: tensor_created_in_forward_without_device | unregistered_tensor_attribute
import torch
from torch import nn


def karras_sigmas(n, sigma_min=0.02, sigma_max=80.0, rho=7.0):
    ramp = torch.linspace(0, 1, n)
    lo, hi = sigma_min ** (1 / rho), sigma_max ** (1 / rho)
    return (hi + ramp * (lo - hi)) ** rho


def sample_sigmas(sigmas, batch):
    idx = torch.randint(0, len(sigmas), (batch,))
    return sigmas[idx].view(-1, 1, 1, 1)


class EDMLoss:
    def __init__(self, steps=40, sigma_data=0.5):
        self.sigmas = karras_sigmas(steps)
        self.sigma_data = sigma_data

    def __call__(self, net, x):
        sigma = sample_sigmas(self.sigmas, x.shape[0])
        weight = (sigma ** 2 + self.sigma_data ** 2) / (sigma * self.sigma_data) ** 2
        noised = x + torch.randn_like(x) * sigma
        denoised = net(noised, sigma.flatten().log() / 4)
        return (weight * (denoised - x) ** 2).mean()


class TinyUNet(nn.Module):
    def __init__(self, ch=16):
        super().__init__()
        self.inp = nn.Conv2d(3, ch, 3, padding=1)
        self.emb = nn.Linear(1, ch)
        self.out = nn.Conv2d(ch, 3, 3, padding=1)

    def forward(self, x, c_noise):
        h = self.inp(x) + self.emb(c_noise[:, None])[:, :, None, None]
        return self.out(nn.functional.silu(h))


def main():
    device = torch.device("cuda")
    net = TinyUNet().to(device)
    opt = torch.optim.AdamW(net.parameters(), lr=1e-4)
    loss_fn = EDMLoss()
    for _ in range(2):
        images = torch.rand(4, 3, 16, 16).to(device) * 2 - 1
        opt.zero_grad()
        loss_fn(net, images).backward()
        opt.step()
