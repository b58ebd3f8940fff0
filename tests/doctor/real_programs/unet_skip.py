# culprit: align.weight | align
# cause: submodule_created_in_forward
import torch
from torch import nn
import torch.nn.functional as F


class UpBlock(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.norm = nn.GroupNorm(4, channels)

    def forward(self, x, skip):
        x = F.interpolate(x, size=skip.shape[-2:], mode="nearest")
        if skip.size(1) != x.size(1):
            align = nn.Conv2d(skip.size(1), x.size(1), kernel_size=1)
            skip = align(skip)
        return F.silu(self.norm(self.conv(x + skip)))


class SegmentationNet(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.down = nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.up = UpBlock(16)
        self.mask = nn.Conv2d(16, classes, 1)

    def forward(self, pixels):
        fine = F.silu(self.stem(pixels))
        coarse = F.silu(self.down(fine))
        return self.mask(self.up(coarse, fine))


def main():
    device = torch.device("cuda")
    model = SegmentationNet().to(device=device, memory_format=torch.channels_last)
    images = torch.rand(2, 3, 16, 16).to(device)
    masks = torch.randint(0, 3, (2, 16, 16)).to(device)
    with torch.autocast("cuda", enabled=False):
        loss = F.cross_entropy(model(images), masks)
    loss.backward()
    return loss.item()
