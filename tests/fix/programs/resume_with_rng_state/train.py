import tempfile
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F
from scheduler import NoiseScale

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def build():
    return nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Dropout(0.2), nn.Linear(24, 8)).to(device)


def train(model, optimizer, data, scale, step, iterations, best):
    for _ in range(iterations):
        idx = torch.randint(0, len(data), (32,))
        clean = data[idx].to(device)
        std = scale.at(step[idx.to(device)])
        noisy = clean + std[:, None] * torch.randn_like(clean)
        loss = F.mse_loss(model(noisy), clean)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step[idx.to(device)] += 1
        if loss.item() < best["loss"]:
            best["loss"] = loss.item()
            best["weights"] = {k: v.detach().clone().cpu() for k, v in model.state_dict().items()}
    return loss.item()


def blend(model, best, weight=0.5):
    """The mean of the last and the best weights."""
    state = model.state_dict()
    for k in state:
        state[k] = (1 - weight) * state[k] + weight * best["weights"][k]
    model.load_state_dict(state)


def main():
    torch.manual_seed(123)
    data = torch.randn(64, 3) @ torch.randn(3, 8)
    scale = NoiseScale(total=20)
    step = torch.zeros(64, dtype=torch.long, device=device)
    model, best = build(), {"loss": float("inf"), "weights": None}
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    loss = train(model, optimizer, data, scale, step, 15, best)
    print(f"first run: loss {loss:.5f} best {best['loss']:.5f}")
    path = Path(tempfile.mkdtemp()) / "checkpoint.pt"
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "rng": torch.get_rng_state(), "step": step}, path)

    checkpoint = torch.load(path, map_location=device)
    path.unlink()
    path.parent.rmdir()
    model = build()
    model.load_state_dict(checkpoint["model"])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    optimizer.load_state_dict(checkpoint["optimizer"])
    torch.set_rng_state(checkpoint["rng"])
    loss = train(model, optimizer, data, scale, checkpoint["step"], 15, best)
    print(f"resumed: loss {loss:.5f} best {best['loss']:.5f} steps {int(checkpoint['step'].sum())}")
    blend(model, best)
    model.eval()
    with torch.no_grad():
        error = F.mse_loss(model(data.to(device)), data.to(device)).item()
    print(f"blended: error {error:.5f}")


if __name__ == "__main__":
    main()
