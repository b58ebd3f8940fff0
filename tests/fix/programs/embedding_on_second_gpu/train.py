import torch
import torch.nn as nn
import torch.nn.functional as F
from metrics import auc
from tables import SplitEmbedding

SIZES = [10, 500, 6]


class ClickModel(nn.Module):
    def __init__(self, dense_device, table_device, dim=4):
        super().__init__()
        self.embedding = SplitEmbedding(SIZES, dim, dense_device, table_device)
        self.top = nn.Sequential(nn.Linear(dim * 3 + 2, 16), nn.ReLU(), nn.Linear(16, 1)).to(dense_device)

    def forward(self, dense, ids):
        return self.top(torch.cat([dense, self.embedding(ids)], dim=1)).squeeze(1)

    def penalty(self):
        return sum(table.weight.pow(2).mean() for table in self.embedding.tables)


def clicks(n):
    dense = torch.randn(n, 2)
    ids = torch.stack([torch.randint(0, size, (n, 2)) for size in SIZES], dim=1)
    labels = (dense[:, 0] + (ids[:, 0, 0] % 3 == 0).float() - 0.3 + 0.3 * torch.randn(n) > 0).float()
    return dense, ids, labels


def main():
    torch.manual_seed(17)
    cuda = torch.cuda.device_count() >= 2
    dense_device, table_device = (torch.device("cuda:0"), torch.device("cuda:1")) if cuda else (torch.device("cpu"),) * 2
    model = ClickModel(dense_device, table_device)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    for step in range(1, 31):
        dense, ids, labels = (t.to(dense_device) for t in clicks(64))
        logits = model(dense, ids)
        loss = F.binary_cross_entropy_with_logits(logits, labels)
        if step % 2 == 0:
            loss = loss + 1e-2 * model.penalty()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.5f}")
    with torch.no_grad():
        dense, ids, labels = (t.to(dense_device) for t in clicks(200))
        print(f"auc {auc(model(dense, ids).sigmoid(), labels):.4f} penalty {model.penalty().item():.5f}")


if __name__ == "__main__":
    main()
