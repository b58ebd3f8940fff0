# culprit: cuts | data.ptr[1:-1] | data.ptr
# cause: cpu_only_argument
from typing import NamedTuple
import torch
from torch import nn


class GraphBatch(NamedTuple):
    x: torch.Tensor
    edges: torch.Tensor
    ptr: torch.Tensor

    def to(self, device):
        return self._replace(**{k: v.to(device) for k, v in self._asdict().items()})


def collate(graphs):
    sizes = torch.tensor([len(x) for x, _ in graphs])
    ptr = torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])
    edges = torch.cat([e + offset for (_, e), offset in zip(graphs, ptr)], dim=1)
    return GraphBatch(torch.cat([x for x, _ in graphs]), edges, ptr)


class GIN(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.eps = nn.Parameter(torch.zeros(1))
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.ReLU(), nn.Linear(2 * dim, dim))

    def forward(self, x, edges):
        src, dst = edges
        pooled = torch.zeros_like(x).index_add(0, dst, x[src])
        return self.mlp((1 + self.eps) * x + pooled)


def unbatch(values, data):
    cuts = data.ptr[1:-1]
    return torch.tensor_split(values, cuts)


@torch.no_grad()
def embed(model, graphs, device):
    data = collate(graphs).to(device)
    nodes = model(data.x, data.edges)
    return [part.mean(0).tolist() for part in unbatch(nodes, data)]


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    graphs = [(torch.randn(n, 8), torch.randint(0, n, (2, 3 * n))) for n in (5, 8, 4)]
    model = GIN().to(device).eval()
    return embed(model, graphs, device)
