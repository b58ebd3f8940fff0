# culprit: offsets | offsets_from(lengths)
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn


def offsets_from(lengths):
    starts = [0]
    for length in lengths[:-1]:
        starts.append(starts[-1] + length)
    return torch.tensor(starts)


class HistoryTower(nn.Module):
    def __init__(self, n_items=200, dim=16):
        super().__init__()
        self.bag = nn.EmbeddingBag(n_items, dim, mode="mean", include_last_offset=False)
        self.project = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, dim))

    def forward(self, items, lengths):
        offsets = offsets_from(lengths)
        pooled = self.bag(items, offsets)
        return nn.functional.normalize(self.project(pooled), dim=-1)


class Retrieval(nn.Module):
    def __init__(self, n_items=200, dim=16):
        super().__init__()
        self.history = HistoryTower(n_items, dim)
        self.items = nn.Embedding(n_items, dim)

    def forward(self, items, lengths, targets):
        query = self.history(items, lengths)
        logits = query @ self.items(targets).T / 0.07
        return nn.functional.cross_entropy(logits, torch.arange(len(targets), device=logits.device))


def collate(histories, targets):
    lengths = [len(h) for h in histories]
    return torch.cat(histories), lengths, torch.tensor(targets)


def main():
    device = torch.device("cuda")
    model = Retrieval().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    histories = [torch.randint(0, 200, (n,)) for n in (3, 7, 5, 2)]
    items, lengths, targets = collate(histories, [4, 19, 77, 130])
    loss = model(items.to(device), lengths, targets.to(device))
    loss.backward()
    optimizer.step()
