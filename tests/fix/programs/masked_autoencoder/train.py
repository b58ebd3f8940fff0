import torch
import torch.nn as nn
import torch.nn.functional as F
from mae.model import MaskedAutoencoder


def waves(n):
    label = torch.randint(0, 3, (n,))
    t = torch.linspace(0, 6.28, 32)
    x = torch.sin((label + 1)[:, None] * t[None] + 6.28 * torch.rand(n, 1)) + 0.05 * torch.randn(n, 32)
    return x.view(n, 8, 4), label


def main():
    torch.manual_seed(12)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = MaskedAutoencoder().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, betas=(0.9, 0.95))
    for step in range(1, 31):
        loss = model(waves(32)[0].to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"pretrain {step} loss {loss.item():.4f}")
    # linear probing
    model.eval().requires_grad_(False)
    probe = nn.Linear(16, 3)
    optimizer = torch.optim.Adam(probe.parameters(), lr=5e-2)
    for step in range(20):
        x, y = waves(32)
        loss = F.cross_entropy(probe(model.features(x.to(device))), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    x, y = waves(100)
    correct = (probe(model.features(x.to(device))).argmax(1).cpu() == y).sum().item()
    print(f"probe loss {loss.item():.3f} correct {correct}/100")


if __name__ == "__main__":
    main()
