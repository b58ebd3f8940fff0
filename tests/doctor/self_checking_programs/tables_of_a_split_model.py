# culprit: cos | sin
# cause: split_model_activation_not_moved
import torch
from torch import nn


class Angles(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("speeds", torch.linspace(0, 1, size))

    def forward(self, length):
        angles = torch.outer(torch.arange(length, device=self.speeds.device).float(), self.speeds)
        return angles.cos(), angles.sin()


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.mix = nn.Linear(size, size)

    def forward(self, x, cos, sin):
        return self.mix(x * cos + x.flip(-1) * sin)


class Split(nn.Module):
    def __init__(self, devices):
        super().__init__()
        self.devices, self.angles = devices, Angles(4).to(devices[0])
        self.blocks = nn.ModuleList(Block(4).to(device) for device in devices)

    def forward(self, x):
        cos, sin = self.angles(x.shape[1])
        for block, device in zip(self.blocks, self.devices, strict=True):
            x = block(x.to(device), cos, sin)
        return x


def main():
    model = Split(["cuda:0", "cuda:1"])
    assert model(torch.ones(1, 3, 4)).device == torch.device("cuda:1")
    assert model.angles.speeds.device == torch.device("cuda:0")
