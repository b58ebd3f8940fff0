# culprit: loops
# cause: tensor_created_in_forward_without_device
from typing import NamedTuple

import torch
from torch import nn


class Graph(NamedTuple):
    x: torch.Tensor
    edge_index: torch.Tensor
    y: torch.Tensor

    def to(self, device):
        return Graph(*(t.to(device) for t in self))


def add_self_loops(edge_index, num_nodes):
    loops = torch.arange(num_nodes).repeat(2, 1)
    return torch.cat([edge_index, loops], dim=1)


class GCNConv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.lin = nn.Linear(i, o, bias=False)

    def forward(self, x, edge_index):
        edge_index = add_self_loops(edge_index, x.size(0))
        row, col = edge_index
        deg = torch.bincount(col, minlength=x.size(0)).float()
        norm = (deg[row] * deg[col]).rsqrt()
        x = self.lin(x)
        return torch.zeros_like(x).index_add_(0, col, norm[:, None] * x[row])


def main():
    data = Graph(torch.randn(10, 6), torch.randint(0, 10, (2, 30)), torch.randint(0, 3, (10,)))
    data = data.to("cuda")
    model = GCNConv(6, 3).to("cuda")
    loss = nn.functional.cross_entropy(model(data.x, data.edge_index), data.y)
    loss.backward()
