# culprit: self.boundaries
# cause: unregistered_tensor_attribute
import torch
from torch import nn


class PitchEmbedding(nn.Module):
    """Quantise F0 into bins on a log scale, one embedding per bin."""

    boundaries = torch.logspace(1.8, 2.7, steps=15)

    def __init__(self, dim):
        super().__init__()
        self.embed = nn.Embedding(len(self.boundaries) + 1, dim)

    def forward(self, f0):
        return self.embed(torch.bucketize(f0, self.boundaries))


class VarianceAdaptor(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.predictor = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, 1))
        self.pitch = PitchEmbedding(dim)

    def forward(self, h, f0=None):
        log_f0 = self.predictor(h).squeeze(-1)
        h = h + self.pitch(log_f0.exp() if f0 is None else f0)
        return h, log_f0


class Synthesizer:
    def __init__(self, device):
        self.device = device
        self.adaptor = VarianceAdaptor().to(device)

    def step(self, h, f0):
        h, f0 = h.to(self.device), f0.to(self.device)
        out, log_f0 = self.adaptor(h, f0)
        return out.mean() + nn.functional.mse_loss(log_f0, f0.log())


def main():
    synth = Synthesizer("cuda")
    synth.step(torch.randn(2, 9, 16), 80 + 200 * torch.rand(2, 9)).backward()
