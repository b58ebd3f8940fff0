import torch


class NoiseScale:
    """The standard deviation of the input noise for each step of training, kept as a tensor."""

    def __init__(self, total, start=0.3, end=0.01):
        self.table = torch.linspace(start, end, total)

    def at(self, step):
        return self.table[step.clamp(max=len(self.table) - 1)]
