# culprit: batch.node_feats
# cause: in_place_or_copy | input_not_moved
from typing import NamedTuple
import torch
from torch import nn


class MolBatch(NamedTuple):
    node_feats: torch.Tensor
    coords: torch.Tensor
    edge_index: torch.Tensor
    energy: torch.Tensor


def to_device(batch, device):
    batch._replace(**{name: value.to(device) for name, value in batch._asdict().items()})
    return batch


def random_batches(n, atoms=12):
    for _ in range(n):
        yield MolBatch(
            torch.randn(atoms, 5), torch.randn(atoms, 3),
            torch.randint(0, atoms, (2, 40)), torch.randn(()),
        )


class EGNNLayer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.message = nn.Sequential(nn.Linear(2 * dim + 1, dim), nn.SiLU(), nn.Linear(dim, dim))
        self.update = nn.Linear(2 * dim, dim)

    def forward(self, h, pos, edges):
        src, dst = edges
        dist = (pos[src] - pos[dst]).pow(2).sum(-1, keepdim=True)
        m = self.message(torch.cat([h[src], h[dst], dist], -1))
        pooled = torch.zeros_like(h).index_add(0, dst, m)
        return h + self.update(torch.cat([h, pooled], -1))


class EnergyModel(nn.Module):
    def __init__(self, feats=5, dim=16):
        super().__init__()
        self.embed = nn.Linear(feats, dim)
        self.layers = nn.ModuleList(EGNNLayer(dim) for _ in range(2))
        self.readout = nn.Linear(dim, 1)

    def forward(self, batch):
        h = self.embed(batch.node_feats)
        for layer in self.layers:
            h = layer(h, batch.coords, batch.edge_index)
        return self.readout(h).sum()


def main():
    device = torch.device("cuda")
    model = EnergyModel().to(device)
    for batch in random_batches(2):
        batch = to_device(batch, device)
        (model(batch) - batch.energy).abs().backward()
