import numpy as np
import torch
import torch.nn as nn
from pde import exact, heat_residual
from points import CollocationPoints


class Net(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, xt):
        return self.layers(xt)


def main():
    torch.manual_seed(1234)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Net().to(device)
    inside = CollocationPoints(60, device)
    x0 = torch.linspace(0, 1, 20).unsqueeze(1)
    start = torch.cat([x0, torch.zeros_like(x0)], dim=1)
    edges = torch.cat([(x0 > 0.5).float(), x0], dim=1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for it in range(1, 41):
        residual = heat_residual(model, inside.points)
        loss_f = residual.pow(2).mean()
        loss_0 = (model(start) - exact(start[:, :1], start[:, 1:])).pow(2).mean()
        loss_b = model(edges).pow(2).mean()
        loss = loss_f + loss_0 + loss_b
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % 10 == 0:
            kept = inside.refine(residual)
            print(f"iter {it} pde {loss_f.item():.4f} start {loss_0.item():.4f} edges {loss_b.item():.4f} kept {kept}")
    grid = np.stack(np.meshgrid(np.linspace(0, 1, 9), np.linspace(0, 1, 9)), axis=-1).reshape(-1, 2).astype(np.float32)
    truth = exact(torch.from_numpy(grid[:, :1]), torch.from_numpy(grid[:, 1:])).numpy()
    with torch.no_grad():
        pred = model(torch.from_numpy(grid).to(device)).numpy()
    print(f"relative error {np.linalg.norm(pred - truth) / np.linalg.norm(truth):.4f}")


if __name__ == "__main__":
    main()
