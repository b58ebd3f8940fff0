import torch
import torch.nn as nn
import torch.nn.functional as F
from private import PrivateOptimizer


def main():
    torch.manual_seed(13)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    x = torch.randn(96, 6)
    y = (x.sum(dim=1) > 0).long()
    x, y = x.to(device), y.to(device)
    model = nn.Linear(6, 2).to(device)
    optimizer = PrivateOptimizer(torch.optim.SGD(model.parameters(), lr=0.5), model.parameters())
    edges = torch.linspace(0, 4, 5)
    histogram = torch.zeros(6, dtype=torch.long)
    step, norms = 0, []
    for epoch in range(2):
        for idx in torch.randperm(96).split(16):
            for i in idx.tolist():
                F.cross_entropy(model(x[i : i + 1]), y[i : i + 1]).backward()
                norms.append(optimizer.accumulate())
            optimizer.step()
            step += 1
            if step % 3 == 0:
                buckets = torch.bucketize(torch.stack(norms), edges)
                histogram += torch.bincount(buckets, minlength=6)
                norms = []
        with torch.no_grad():
            logits = model(x)
            acc = (logits.argmax(1) == y).float().mean().item()
        print(f"epoch {epoch} loss {F.cross_entropy(logits, y).item():.4f} acc {acc:.4f} histogram {histogram.tolist()}")


if __name__ == "__main__":
    main()
