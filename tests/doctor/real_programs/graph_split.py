# culprit: offsets
# cause: cpu_only_argument
from typing import NamedTuple
import torch
from torch import nn


class GraphBatch(NamedTuple):
    x: torch.Tensor
    sizes: torch.Tensor
    y: torch.Tensor

    def to(self, device):
        return GraphBatch(*(t.to(device) for t in self))


class SetTransformerPool(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.proj = nn.Linear(5, dim)
        self.score = nn.Linear(dim, 1)
        self.out = nn.Linear(dim, 1)

    def forward(self, batch):
        h = torch.relu(self.proj(batch.x))
        offsets = batch.sizes.cumsum(0)[:-1]
        pooled = []
        for nodes in h.tensor_split(offsets):
            weights = self.score(nodes).softmax(0)
            pooled.append((weights * nodes).sum(0))
        return self.out(torch.stack(pooled)).squeeze(-1)


def main():
    model = SetTransformerPool().to("cuda")
    device = next(model.parameters()).device
    opt = torch.optim.Adam(model.parameters())
    for _ in range(2):
        sizes = torch.tensor([3, 6, 2, 5])
        batch = GraphBatch(torch.randn(int(sizes.sum()), 5), sizes, torch.randn(4)).to(device)
        loss = nn.functional.mse_loss(model(batch), batch.y)
        opt.zero_grad()
        loss.backward()
        opt.step()
