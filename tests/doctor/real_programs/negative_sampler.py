# culprit: self.generator | generator
# cause: generator_device
from dataclasses import dataclass
import torch
from torch import nn


@dataclass
class Interactions:
    users: torch.Tensor
    items: torch.Tensor
    n_items: int


class NegativeSampler:
    def __init__(self, n_items, per_positive, generator):
        self.n_items = n_items
        self.per_positive = per_positive
        self.generator = generator

    def draw(self, positives):
        shape = (positives.numel(), self.per_positive)
        negatives = torch.randint(0, self.n_items - 1, shape, generator=self.generator)
        negatives = negatives.to(positives.device)
        return negatives + (negatives >= positives[:, None])


class BPR(nn.Module):
    def __init__(self, users, items, dim=16):
        super().__init__()
        self.user, self.item = nn.Embedding(users, dim), nn.Embedding(items, dim)
        self.bias = nn.Embedding(items, 1)

    def forward(self, users, items):
        u, i = self.user(users), self.item(items)
        return torch.einsum("bd,bnd->bn", u, i) + self.bias(items).squeeze(-1)


def bpr_loss(pos, neg):
    return nn.functional.softplus(neg - pos).mean()


def main():
    device = torch.device("cuda")
    generator = torch.Generator(device=device).manual_seed(7)
    data = Interactions(torch.randint(0, 30, (64,)), torch.randint(0, 90, (64,)), 90)
    model = BPR(30, data.n_items).to(device)
    sampler = NegativeSampler(data.n_items, 4, generator)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    for idx in torch.randperm(64).split(16):
        users, items = data.users[idx].to(device), data.items[idx].to(device)
        negatives = sampler.draw(items)
        loss = bpr_loss(model(users, items[:, None]), model(users, negatives))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
