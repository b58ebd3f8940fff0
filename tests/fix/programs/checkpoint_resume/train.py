import tempfile
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F
from checkpoint import load_checkpoint, save_checkpoint
from sgd import MomentumSGD


def build_model():
    return nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 2))


def train_epoch(model, optimizer, x, y, sample_loss, device):
    total = 0.0
    for idx in torch.arange(len(x)).split(24):
        xb, yb = x[idx].to(device), y[idx].to(device)
        losses = F.cross_entropy(model(xb), yb, reduction="none")
        weight = 1 + sample_loss[idx]
        loss = (losses * weight).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        sample_loss[idx] = 0.8 * sample_loss[idx] + 0.2 * losses.detach()
        total += loss.item() * len(idx)
    return total / len(x)


def main():
    torch.manual_seed(6)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    x = torch.randn(100, 6)
    y = (x[:, 0] * x[:, 1] > 0).long()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "last.pt"
        model = build_model().to(device)
        optimizer = MomentumSGD(model.named_parameters())
        sample_loss = torch.zeros(100, device=device)
        for epoch in range(3):
            loss = train_epoch(model, optimizer, x, y, sample_loss, device)
            print(f"epoch {epoch} loss {loss:.5f}")
            save_checkpoint(path, epoch, model, optimizer, sample_loss)

        print("resuming from", path.name)
        model = build_model()
        optimizer = MomentumSGD(model.named_parameters())
        start, sample_loss = load_checkpoint(path, model, optimizer)
    for epoch in range(start, start + 2):
        loss = train_epoch(model, optimizer, x, y, sample_loss, device)
        print(f"epoch {epoch} loss {loss:.5f}")
    momentum = sum(b.norm().item() for b in optimizer.buffers.values())
    print(f"hardest sample {int(sample_loss.argmax())} momentum norm {momentum:.5f}")


if __name__ == "__main__":
    main()
