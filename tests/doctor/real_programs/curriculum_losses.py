# culprit: losses | per_sample.detach() | per_sample
# cause: written_values_on_wrong_device
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class IndexedDataset(Dataset):
    def __init__(self, n=64):
        self.x = torch.randn(n, 8)
        self.y = torch.randint(0, 3, (n,))

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return i, self.x[i], self.y[i]


class LossLedger:
    """Remembers the latest loss of every sample; lives in host memory."""

    def __init__(self, n):
        self.values = torch.full((n,), float("inf"), device="cpu")

    def update(self, indices, losses):
        self.values[indices] = losses

    def hardest(self, k):
        return self.values.topk(k).indices


def main():
    device = "cuda"
    data = IndexedDataset()
    ledger = LossLedger(len(data))
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3)).to(device)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for indices, x, y in DataLoader(data, batch_size=16, shuffle=True):
        x, y = x.to(device), y.to(device)
        per_sample = nn.functional.cross_entropy(model(x), y, reduction="none")
        opt.zero_grad()
        per_sample.mean().backward()
        opt.step()
        ledger.update(indices, per_sample.detach())
    return ledger.hardest(8)
