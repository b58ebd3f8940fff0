import torch
import torch.nn as nn
import torch.nn.functional as F
from ema import EMA
from metrics import ClassAccuracy
from torch.utils.data import DataLoader, TensorDataset

NUM_CLASSES = 4


def make_data(n):
    x = torch.randn(n, 10)
    y = x[:, :NUM_CLASSES].argmax(dim=1)
    return TensorDataset(x, y)


def train_one_epoch(model, loader, optimizer, ema, device):
    model.train()
    total = 0.0
    for step, (x, y) in enumerate(loader):
        x, y = x.to(device), y.to(device)
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 2 == 1:
            ema.update()
        total += loss.item() * len(x)
    return total / len(loader.dataset)


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    metric = ClassAccuracy(NUM_CLASSES)
    loss = 0.0
    for x, y in loader:
        x = x.to(device)
        out = model(x)
        loss += F.cross_entropy(out, y, reduction="sum").item()
        metric.update(out.argmax(dim=1), y)
    return loss / len(loader.dataset), metric.compute()


def main():
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train_loader = DataLoader(make_data(256), batch_size=32, shuffle=True)
    val_loader = DataLoader(make_data(100), batch_size=32)

    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, NUM_CLASSES))
    ema = EMA(model)
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    for epoch in range(3):
        train_loss = train_one_epoch(model, train_loader, optimizer, ema, device)
        print(f"epoch {epoch}: train loss {train_loss:.5f}, ema norm {ema.norm():.5f}")
    ema.apply_shadow()
    val_loss, per_class = evaluate(model, val_loader, device)
    ema.restore()
    print(f"val loss {val_loss:.5f}, accuracy per class {[round(a, 4) for a in per_class.tolist()]}")


if __name__ == "__main__":
    main()
