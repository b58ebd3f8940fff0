# culprit: dst | edge_index
# cause: input_not_moved
from dataclasses import dataclass
import torch
from torch import nn


@dataclass
class Subgraph:
    x: torch.Tensor
    y: torch.Tensor
    edge_index: torch.Tensor
    num_seeds: int

    def to(self, device):
        return Subgraph(self.x.to(device), self.y.to(device), self.edge_index, self.num_seeds)


class SAGEConv(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.own = nn.Linear(d_in, d_out)
        self.neigh = nn.Linear(d_in, d_out, bias=False)

    def forward(self, x, edge_index):
        src, dst = edge_index
        messages = x[src]
        summed = torch.zeros_like(x).index_add(0, dst, messages)
        return self.own(x) + self.neigh(summed)


def neighbour_loader(x, y, edges, seeds=4):
    for start in range(0, len(x), seeds):
        nodes = torch.arange(start, start + seeds)
        keep = torch.isin(edges[0], nodes) & torch.isin(edges[1], nodes)
        yield Subgraph(x[nodes], y[nodes], edges[:, keep] - start, seeds)


def main():
    x, y = torch.randn(12, 6), torch.randint(0, 3, (12,))
    edges = torch.randint(0, 12, (2, 60))
    device = torch.device("cuda:0")
    conv, head = SAGEConv(6, 8).to(device), nn.Linear(8, 3).to(device)
    for batch in neighbour_loader(x, y, edges):
        batch = batch.to(device)
        out = head(conv(batch.x, batch.edge_index).relu())
        nn.functional.cross_entropy(out, batch.y).backward()
