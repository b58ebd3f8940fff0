# culprit: self.inter
# cause: metric_or_accumulator_state
import torch
from torch import nn


class SegmentationMeter:
    """Intersection, union and pixel counts over an epoch."""

    def __init__(self, classes):
        self.classes = classes
        self.reset()

    def reset(self):
        self.inter = torch.zeros(self.classes)
        self.union = torch.zeros(self.classes)
        self.pixels = torch.zeros(self.classes, dtype=torch.long)

    def update(self, pred, target):
        onehot_p = nn.functional.one_hot(pred, self.classes)
        onehot_t = nn.functional.one_hot(target, self.classes)
        self.inter += (onehot_p * onehot_t).sum(dim=(0, 1, 2)).float()
        self.union += ((onehot_p + onehot_t) > 0).sum(dim=(0, 1, 2)).float()
        self.pixels += onehot_t.sum(dim=(0, 1, 2))

    def compute(self):
        return self.inter / self.union.clamp(min=1)


def main():
    device = torch.device("cuda:0")
    meter = SegmentationMeter(3)
    for _ in range(2):
        meter.update(torch.randint(0, 3, (2, 4, 4), device=device), torch.randint(0, 3, (2, 4, 4), device=device))
    assert meter.pixels.sum() == 64
    assert meter.compute().shape == (3,)
