# culprit: self.log_prior
# cause: loss_weight_not_moved | model_not_moved
import torch
from torch import nn
import torch.nn.functional as F


class BalancedSoftmaxLoss(nn.Module):
    """Adds the log of the class frequencies to the logits (long-tailed data)."""

    def __init__(self, class_counts, smoothing=0.05):
        super().__init__()
        prior = class_counts.float() / class_counts.sum()
        self.register_buffer("log_prior", prior.log())
        self.smoothing = smoothing

    def forward(self, logits, labels):
        adjusted = logits + self.log_prior
        return F.cross_entropy(adjusted, labels, label_smoothing=self.smoothing)


class Adapter(nn.Module):
    def __init__(self, dim=12, classes=6, rank=2):
        super().__init__()
        self.down, self.up = nn.Linear(dim, rank), nn.Linear(rank, dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        return self.head(x + self.up(self.down(x)))


def main():
    labels = torch.cat([torch.full((n,), c) for c, n in enumerate((20, 9, 5, 3, 2, 1))])
    features = torch.randn(len(labels), 12)
    model = Adapter()
    loss_fn = BalancedSoftmaxLoss(torch.bincount(labels))
    device = "cuda:0" if torch.cuda.is_available() else "cpu"
    model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for index in torch.randperm(len(labels)).split(16):
        x, y = features[index].to(device), labels[index].to(device)
        optimizer.zero_grad(set_to_none=True)
        loss_fn(model(x), y).backward()
        optimizer.step()
