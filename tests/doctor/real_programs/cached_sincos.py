# culprit: sincos(x.size(1), x.size(2)) | sincos(x.size(1),x.size(2))
# cause: tensor_created_in_forward_without_device
import functools
import math

import torch
from torch import nn


@functools.lru_cache
def sincos(t, d):
    pos = torch.arange(t).unsqueeze(1)
    div = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
    pe = torch.zeros(t, d)
    pe[:, 0::2] = torch.sin(pos * div)
    pe[:, 1::2] = torch.cos(pos * div)
    return pe


class Enc(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        return self.fc(x + sincos(x.size(1), x.size(2)))


def main():
    Enc().cuda()(torch.randn(2, 5, 8).cuda())
