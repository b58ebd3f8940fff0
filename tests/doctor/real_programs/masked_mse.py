# culprit: target | mask
# cause: target_not_moved | input_not_moved
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def masked_mse(pred, target, mask):
    err = (pred - target) ** 2
    return (err * mask).sum() / mask.sum()


def evaluate(model, loader, device):
    total = 0.0
    for series, target, mask in loader:
        series = series.to(device)
        pred = model(series)
        loss = masked_mse(pred, target, mask)
        total += loss.item()
    return total / len(loader)


def main():
    device = torch.device("cuda")
    data = TensorDataset(torch.randn(12, 6), torch.randn(12, 3), torch.ones(12, 3))
    model = nn.Linear(6, 3).to(device)
    assert evaluate(model, DataLoader(data, batch_size=4), device) > 0
