# culprit: right
# cause: tensor_created_in_forward_without_device
import torch
from torch.nn import functional as F


def spikes(steps, rate, pattern="regular"):
    if pattern == "regular":
        times = torch.arange(0, steps, 1 / rate)
        return torch.zeros(steps).scatter(0, times.long(), 1), times
    return torch.bernoulli(torch.ones(steps) * rate), None


def targets_of(labels, classes, steps, rate=0.5, other_rate=0.25, pattern="regular"):
    hot = F.one_hot(labels, classes).repeat(steps, 1, 1)
    cold = 1 - hot
    right, times = spikes(steps, rate, pattern)
    right = hot * right.unsqueeze(-1).unsqueeze(-1)
    wrong, times = spikes(steps, other_rate, pattern)
    wrong = cold * wrong.unsqueeze(
        -1
    ).unsqueeze(
        -1
    )  # steps x 1 x 1
    return (right + wrong).clamp(0, 1)


def main():
    labels = torch.tensor([0, 2, 1])
    assert torch.equal(targets_of(labels.to("cuda"), 3, 8).cpu(), targets_of(labels, 3, 8))
