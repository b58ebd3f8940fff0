# culprit: self.prototypes
# cause: kept_by_a_plain_object | tensor_created_in_forward_without_device
import torch
from torch import nn


class PseudoLabels:
    """Keeps the whole unlabeled set on the host."""

    def __init__(self, data, k):
        self.data = data
        self.order = torch.randperm(len(data))
        self.prototypes = torch.randn(k, data.size(1))
        self.temperature = torch.full((k,), 0.5)

    def assign(self, model, start, device):
        rows = self.data[self.order[start : start + 4]].to(device)
        z = model(rows)
        score = z @ self.prototypes.T
        return (score / self.temperature).argmax(1)


def main():
    device = torch.device("cuda")
    data = torch.randn(12, 5)
    labels = PseudoLabels(data, 3)
    model = nn.Linear(5, 5).to(device)
    out = labels.assign(model, 0, device)
    assert out.is_cuda and labels.data.device.type == "cpu" and labels.order.device.type == "cpu"
