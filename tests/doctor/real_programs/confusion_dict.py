# culprit: self.stats["tp"]
# cause: metric_or_accumulator_state
import torch
from torch import nn


class Confusion:
    def __init__(self, classes):
        self.classes = classes
        self.stats = {"tp": torch.zeros(classes), "fp": torch.zeros(classes), "fn": torch.zeros(classes)}

    def update(self, pred, target):
        p = nn.functional.one_hot(pred, self.classes).bool()
        t = nn.functional.one_hot(target, self.classes).bool()
        self.stats["tp"] += (p & t).sum(0)
        self.stats["fp"] += (p & ~t).sum(0)
        self.stats["fn"] += (~p & t).sum(0)

    def f1(self):
        return 2 * self.stats["tp"] / (2 * self.stats["tp"] + self.stats["fp"] + self.stats["fn"]).clamp(min=1)


def main():
    confusion = Confusion(3)
    for _ in range(2):
        confusion.update(torch.randint(0, 3, (5,), device="cuda"), torch.randint(0, 3, (5,), device="cuda"))
    assert (confusion.stats["tp"] + confusion.stats["fn"]).sum() == 10 and confusion.f1().shape == (3,)
