# culprit: out
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn


def segment_sum(values, segments, n):
    out = torch.zeros(n, *values.shape[1:])
    return out.index_add(0, segments, values)


def segment_softmax(logits, segments, n):
    weights = (logits - logits.max()).exp()
    return weights / segment_sum(weights, segments, n)[segments].clamp(min=1e-9)


class GATLayer(nn.Module):
    def __init__(self, dim_in, dim_out, heads=2):
        super().__init__()
        self.heads = heads
        self.lin = nn.Linear(dim_in, heads * dim_out, bias=False)
        self.att_src = nn.Parameter(torch.randn(heads, dim_out) * 0.1)
        self.att_dst = nn.Parameter(torch.randn(heads, dim_out) * 0.1)

    def forward(self, x, edges):
        src, dst = edges
        h = self.lin(x).view(len(x), self.heads, -1)
        score = (h[src] * self.att_src).sum(-1) + (h[dst] * self.att_dst).sum(-1)
        alpha = segment_softmax(nn.functional.leaky_relu(score, 0.2), dst, len(x))
        return segment_sum(alpha.unsqueeze(-1) * h[src], dst, len(x)).flatten(1)


class GAT(nn.Module):
    def __init__(self, features=8, classes=3):
        super().__init__()
        self.first = GATLayer(features, 8)
        self.second = GATLayer(16, classes)

    def forward(self, x, edges):
        h = self.first(x, edges)
        return self.second(nn.functional.elu(h), edges).view(len(x), 2, -1).mean(1)


def main():
    device = torch.device("cuda")
    x = torch.randn(20, 8, device=device)
    edges = torch.randint(0, 20, (2, 60), device=device)
    labels = torch.randint(0, 3, (20,), device=device)
    train_mask = torch.rand(20, device=device) < 0.8
    model = GAT().to(device)
    out = model(x, edges)
    loss = nn.functional.cross_entropy(out[train_mask], labels[train_mask])
    loss.backward()
