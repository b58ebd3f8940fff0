# culprit: self.alphas_bar | betas
# cause: tensor_created_in_forward_without_device | kept_by_a_plain_object | index_on_wrong_device
import torch


def get_betas(steps, device=None):
    return torch.linspace(1e-4, 0.02, steps, device=device)


class Diffusion:
    def __init__(self, steps, device):
        self.steps = steps
        self.device = device
        betas = get_betas(steps)
        self.alphas_bar = torch.cumprod(1 - betas, dim=0)

    def q_sample(self, x, t):
        a = self.alphas_bar[t].view(-1, 1)
        return a.sqrt() * x + (1 - a).sqrt() * torch.randn_like(x)


def main():
    for dev in ("cuda", "cpu"):
        d = Diffusion(10, torch.device(dev))
        t = torch.randint(0, 10, (4,), device=dev)
        out = d.q_sample(torch.randn(4, 3, device=dev), t)
        assert out.device.type == dev
        assert d.alphas_bar.device.type == dev
