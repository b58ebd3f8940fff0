# culprit: norm_adj | adj
# cause: tensor_created_in_forward_without_device
import torch as th
import torch.nn as nn


def build_graph(n, k=1):
    adj = th.eye(n)
    for i in range(n - k):
        adj[i, i + k] = 1.0
        adj[i + k, i] = 1.0
    deg = adj.sum(-1)
    return adj, deg


def normalize(adj, deg):
    d = deg.pow(-0.5)
    return d[:, None] * adj * d[None, :]


class GCN(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.lin = nn.Linear(dim, dim)

    def forward(self, x):
        adj, deg = build_graph(x.shape[1])
        norm_adj = normalize(adj, deg)
        return norm_adj @ self.lin(x)


def main():
    for dev in ("cuda", "cpu"):
        g = GCN(4).to(dev)
        out = g(th.randn(2, 5, 4, device=dev))
        assert out.device.type == dev
