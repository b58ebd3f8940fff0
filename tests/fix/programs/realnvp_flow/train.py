import math

import torch
from flow import RealNVP

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def moons(n, noise=0.05):
    angle = math.pi * torch.rand(n)
    upper = torch.rand(n) < 0.5
    x = torch.where(upper, angle.cos(), 1 - angle.cos())
    y = torch.where(upper, angle.sin(), 0.5 - angle.sin())
    return torch.stack([x, y], dim=1) + noise * torch.randn(n, 2)


flow = RealNVP().to(device)
optimizer = torch.optim.Adam([p for p in flow.parameters() if p.requires_grad], lr=5e-3)
for t in range(1, 61):
    loss = -flow.log_prob(moons(64).to(device)).mean()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
    if t % 20 == 0:
        print(f"iter {t}: loss = {loss.item():.4f}")

flow.eval()
with torch.no_grad():
    samples = flow.sample(200)
    side = torch.linspace(-2, 3, 30)
    grid = torch.cartesian_prod(side, side)
    mass = flow.log_prob(grid).exp().sum().item() * (5 / 29) ** 2
print(f"mass on the grid {mass:.4f}, samples' mean", [round(v, 3) for v in samples.mean(0).tolist()])
