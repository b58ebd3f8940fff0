import torch


class RunningNormalizer:
    """Mean and variance over all that was seen, by Chan's formula."""

    def __init__(self, dim):
        self.mean = torch.zeros(dim)
        self.m2 = torch.zeros(dim)
        self.count = 0

    def update(self, x):
        n, mean = x.size(0), x.mean(dim=0)
        delta = mean - self.mean
        total = self.count + n
        self.m2 += (x - mean).pow(2).sum(dim=0) + delta.pow(2) * self.count * n / total
        self.mean += delta * n / total
        self.count = total

    def __call__(self, x):
        return (x - self.mean) / (self.m2 / self.count + 1e-8).sqrt()
