# culprit: self.limit
# cause: unregistered_tensor_attribute
import torch
from torch import nn


class Renorm(nn.Module):
    def __init__(self, features, limit=1.0, step=0.5):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(features))
        self.limit = limit
        self.step = step

    def forward(self, x):
        std = x.std(0)
        ratio = torch.clamp(std / self.gain.detach(), 1 / self.limit, self.limit)
        if self.training:
            self.limit += self.step
        return x / std * ratio * self.gain


def main():
    Renorm(3)(torch.randn(4, 3))
    layer = Renorm(3, limit=torch.tensor([2.0])).to("cuda")
    x = torch.randn(4, 3)
    expected = Renorm(3, limit=torch.tensor([2.0]))(x)
    assert torch.allclose(layer(x.to("cuda")).cpu(), expected, atol=1e-5)
    assert layer.limit.is_cuda
