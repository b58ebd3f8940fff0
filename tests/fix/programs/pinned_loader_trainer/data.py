from dataclasses import dataclass

import torch
from torch.utils.data import DataLoader, Dataset


@dataclass
class Batch:
    x: torch.Tensor
    y: torch.Tensor
    weight: torch.Tensor

    def to(self, device):
        self.x, self.y = self.x.to(device), self.y.to(device)
        return self

    def pin_memory(self):
        self.x, self.y, self.weight = self.x.pin_memory(), self.y.pin_memory(), self.weight.pin_memory()
        return self


class PointClouds(Dataset):
    def __init__(self, n):
        sizes = torch.randint(4, 9, (n,)).tolist()
        self.clouds = [torch.randn(k, 3) * (1 + i % 3) for i, k in enumerate(sizes)]

    def __len__(self):
        return len(self.clouds)

    def __getitem__(self, i):
        return self.clouds[i], i % 3


class Collate:
    def __init__(self, device):
        self.device = device

    def __call__(self, items):
        clouds, labels = zip(*items)
        x = torch.nn.utils.rnn.pad_sequence(clouds, batch_first=True).to(self.device)
        weight = torch.tensor([len(c) for c in clouds]).float()
        return Batch(x, torch.tensor(labels), weight / weight.mean())


def make_loader(n, device, **kwargs):
    return DataLoader(PointClouds(n), batch_size=12, collate_fn=Collate(device), pin_memory=torch.cuda.is_available(), **kwargs)
