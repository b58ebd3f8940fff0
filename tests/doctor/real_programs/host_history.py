# culprit: self.scale
# cause: kept_by_a_plain_object | tensor_created_in_forward_without_device
import torch
from torch import nn


class Monitor:
    """Keeps histories on the host for plots."""

    def __init__(self, classes):
        self.classes = classes
        self.seen = torch.zeros(classes)
        self.history = torch.zeros(0)
        self.scale = torch.linspace(1, 2, classes)

    def log(self, logits, labels):
        weighted = logits * self.scale
        counts = torch.bincount(labels.cpu(), minlength=self.classes)
        self.seen += counts
        self.history = torch.cat([self.history, weighted.detach().mean().cpu()[None]])
        return weighted


def main():
    monitor = Monitor(3)
    for _ in range(2):
        out = monitor.log(torch.randn(4, 3, device="cuda"), torch.randint(0, 3, (4,), device="cuda"))
    assert out.is_cuda and monitor.seen.device.type == "cpu" and monitor.history.device.type == "cpu"
    assert len(monitor.history) == 2 and monitor.seen.sum() == 8
