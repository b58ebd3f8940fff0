# culprit: centre
# cause: tensor_created_in_forward_without_device
import math

import torch
from torch import nn


class Circle(nn.Module):
    def __init__(self, modes):
        super().__init__()
        self.modes = modes
        self.register_buffer("scale", torch.tensor(0.1))

    def sample(self, n):
        noise = torch.randn(n, 2, device=self.scale.device)
        angle = 2 * math.pi / self.modes * torch.randint(0, self.modes, (n,))
        centre = torch.stack((angle.sin(), angle.cos()), 1).type(noise.dtype)
        return noise * self.scale + centre


def main():
    assert Circle(5).to("cuda").sample(7).is_cuda
    assert not Circle(5).sample(7).is_cuda
