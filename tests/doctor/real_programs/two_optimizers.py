# culprit: sparse_opt | sparse_opt.state | state_sum
# cause: optimizer_state_device
import torch
from torch import nn


class Recommender(nn.Module):
    def __init__(self, users=20, items=30, dim=8):
        super().__init__()
        self.user = nn.Embedding(users, dim)
        self.item = nn.Embedding(items, dim)
        self.mlp = nn.Sequential(nn.Linear(2 * dim, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, u, i):
        return self.mlp(torch.cat([self.user(u), self.item(i)], -1)).squeeze(-1)


def build_optimizers(model):
    tables = [*model.user.parameters(), *model.item.parameters()]
    dense_opt = torch.optim.AdamW(model.mlp.parameters(), lr=1e-3)
    sparse_opt = torch.optim.Adagrad(tables, lr=0.05)
    return dense_opt, sparse_opt


def main():
    device = "cuda"
    model = Recommender()
    dense_opt, sparse_opt = build_optimizers(model)
    model.to(device)
    loss_fn = nn.MSELoss()
    for _ in range(3):
        u = torch.randint(0, 20, (16,), device=device)
        i = torch.randint(0, 30, (16,), device=device)
        rating = torch.rand(16, device=device) * 5
        loss = loss_fn(model(u, i), rating)
        dense_opt.zero_grad()
        sparse_opt.zero_grad()
        loss.backward()
        dense_opt.step()
        sparse_opt.step()
