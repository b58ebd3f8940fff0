# culprit: alphas | self.alphas
# cause: index_on_wrong_device | kept_by_a_plain_object
import torch


class Scheduler:
    def __init__(self, steps):
        self.alphas = torch.linspace(0.9, 0.1, steps, dtype=torch.float64)

    def add_noise(self, clean, noise, t):
        alphas = self.alphas.to(dtype=clean.dtype)
        alpha = alphas[t].sqrt().unsqueeze(-1)
        return alpha * clean + (1 - alpha**2).sqrt() * noise


def main():
    scheduler = Scheduler(10)
    clean, t = torch.ones(2, 3), torch.tensor([1, 2])
    noisy = scheduler.add_noise(clean.cuda(), clean.cuda(), t.cuda())
    assert (noisy.device.type, noisy.dtype) == ("cuda", torch.float32)
    torch.testing.assert_close(noisy.cpu(), Scheduler(10).add_noise(clean, clean, t))
