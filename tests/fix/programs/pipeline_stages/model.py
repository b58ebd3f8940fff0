import torch.nn as nn


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        return x + self.mlp(self.norm(x))


class TwoStageNet(nn.Module):
    """The first half of the blocks is on the first GPU, the second half and the head on the second."""

    def __init__(self, in_dim, dim, classes, first, second):
        super().__init__()
        self.first, self.second = first, second
        self.embed = nn.Linear(in_dim, dim).to(first)
        self.stage1 = nn.Sequential(Block(dim), Block(dim)).to(first)
        self.stage2 = nn.Sequential(Block(dim), Block(dim)).to(second)
        self.head = nn.Linear(dim, classes).to(second)

    def forward(self, x):
        h = self.embed(x.to(self.first))
        skip = h
        h = self.stage1(h)
        h = self.stage2(h)
        return self.head(h + skip)
