import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset


class Commands(Dataset):
    """Sequences of features; the class is told by the sign of their drift and by their scale."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.items = []
        for i in range(n):
            length = int(torch.randint(4, 10, (1,), generator=g))
            drift = torch.linspace(-1, 1, length) * (1 if i % 2 else -1)
            x = drift[:, None] + 0.8 * torch.randn(length, 5, generator=g)
            self.items.append((x * (2 if i % 4 > 1 else 1), i % 4))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    xs, ys = zip(*batch)
    return {
        "features": pad_sequence(xs, batch_first=True),
        "lengths": torch.tensor([len(x) for x in xs]),
        "labels": torch.tensor(ys),
    }
