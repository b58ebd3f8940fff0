# culprit: batch.x
# cause: input_not_moved
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class GraphBatch:
    x: torch.Tensor
    edge_index: torch.Tensor
    edge_weight: torch.Tensor
    y: torch.Tensor


def propagate(h, edge_index, edge_weight):
    src, dst = edge_index
    out = torch.zeros_like(h)
    return out.index_add(0, dst, h[src] * edge_weight[:, None])


class GCN(nn.Module):
    def __init__(self, dim, classes):
        super().__init__()
        self.lin1, self.lin2 = nn.Linear(dim, 8), nn.Linear(8, classes)

    def forward(self, batch):
        h = self.lin1(batch.x).relu()
        h = propagate(h, batch.edge_index, batch.edge_weight)
        return self.lin2(h)


def train(model, batch, optimizer):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(batch), batch.y)
    loss.backward()
    optimizer.step()
    return loss


def main():
    model = GCN(4, 3).cuda()
    batch = GraphBatch(torch.randn(5, 4), torch.randint(0, 5, (2, 7)), torch.rand(7), torch.randint(0, 3, (5,)))
    assert train(model, batch, torch.optim.SGD(model.parameters(), lr=0.1)).is_cuda
