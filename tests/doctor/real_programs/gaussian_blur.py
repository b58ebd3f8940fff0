# culprit: weight | kernel | k
# cause: tensor_created_in_forward_without_device
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def gaussian_kernel(size, sigma):
    ax = np.arange(size) - (size - 1) / 2
    g = np.exp(-0.5 * (ax / sigma) ** 2)
    k = np.outer(g, g)
    k = k / k.sum()
    return torch.from_numpy(k).float()


class Blur(nn.Module):
    def __init__(self, size=3, sigma=1.0):
        super().__init__()
        self.size = size
        self.sigma = sigma

    def forward(self, x):
        c = x.shape[1]
        kernel = gaussian_kernel(self.size, self.sigma)
        weight = kernel[None, None].repeat(c, 1, 1, 1)
        return F.conv2d(x, weight, padding=self.size // 2, groups=c)


def main():
    for dev in ("cuda", "cpu"):
        out = Blur().to(dev)(torch.randn(1, 3, 6, 6, device=dev))
        assert out.device.type == dev
