import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from pruning import MagnitudePruner
from stats import ActivationStats


def summary(model, input_size):
    shapes = []
    handles = [m.register_forward_hook(lambda m, i, o: shapes.append(tuple(o.shape[1:]))) for m in model]
    with torch.no_grad():
        model(torch.zeros(2, *input_size))
    for handle in handles:
        handle.remove()
    return shapes


def epoch(model, optimizer, x, y):
    for idx in torch.randperm(len(x)).split(24):
        loss = F.cross_entropy(model(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(40)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    x = torch.randn(120, 9)
    y = (x[:, :3].sum(1) > 0).long() + (x[:, 3] > 0.5).long()
    x, y = x.to(device), y.to(device)
    model = nn.Sequential(nn.Linear(9, 24), nn.ReLU(), nn.Linear(24, 3)).to(device)
    print("layers", summary(model, (9,)))
    stats = ActivationStats(model, nn.Linear)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    pruner = MagnitudePruner(model, 0.5)
    for e in range(6):
        if e in (2, 4):
            pruner.fraction = 0.4 + 0.1 * e
            pruner.prune()
            pruner.freeze()
        loss = epoch(model, optimizer, x, y)
        print(f"epoch {e} loss {loss:.5f} sparsity {pruner.sparsity():.4f}")
    counts, _ = np.histogram(model[0].weight.detach().numpy(), bins=4, range=(-0.5, 0.5))
    print("histogram", counts.tolist())
    print("calls", stats.calls, "means", [round(m.norm().item(), 4) for m in stats.means.values()])


if __name__ == "__main__":
    main()
