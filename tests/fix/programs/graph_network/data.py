from dataclasses import dataclass

import torch


@dataclass
class Graph:
    x: torch.Tensor
    edge_index: torch.Tensor
    y: torch.Tensor
    train_mask: torch.Tensor

    @property
    def num_nodes(self):
        return self.x.size(0)

    def to(self, device):
        self.x = self.x.to(device)
        self.edge_index = self.edge_index.to(device)
        self.y = self.y.to(device)
        return self


def random_graph(n=60, e=240, classes=3):
    y = torch.randint(0, classes, (n,))
    x = torch.randn(n, 8) + 0.7 * torch.nn.functional.one_hot(y, 8)
    return Graph(x, torch.randint(0, n, (2, e)), y, torch.rand(n) < 0.6)


def subgraph(nodes, edge_index, num_nodes):
    """Edges between the given nodes."""
    node_mask = torch.zeros(num_nodes, dtype=torch.bool)
    node_mask[nodes] = True
    return edge_index[:, node_mask[edge_index[0]] & node_mask[edge_index[1]]]
