# culprit: t_vals | (1.0 - t_vals)
# cause: tensor_created_in_forward_without_device
import argparse

import torch
from torch import nn


class NeRF(nn.Module):
    def __init__(self, w=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, w), nn.ReLU(), nn.Linear(w, 4))

    def forward(self, pts):
        raw = self.net(pts)
        return torch.sigmoid(raw[..., :3]), torch.relu(raw[..., 3])


def render_rays(model, ray_batch, n_samples, perturb=True):
    rays_o, rays_d = ray_batch[:, :3], ray_batch[:, 3:6]
    near, far = ray_batch[:, 6:7], ray_batch[:, 7:8]
    t_vals = torch.linspace(0.0, 1.0, steps=n_samples)
    z_vals = near * (1.0 - t_vals) + far * t_vals
    if perturb:
        z_vals = z_vals + torch.rand_like(z_vals) * (far - near) / n_samples
    pts = rays_o[:, None] + rays_d[:, None] * z_vals[..., None]
    rgb, sigma = model(pts)
    dists = torch.cat([z_vals[:, 1:] - z_vals[:, :-1], torch.full_like(z_vals[:, :1], 1e10)], -1)
    alpha = 1.0 - torch.exp(-sigma * dists)
    trans = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1.0 - alpha + 1e-10], -1), -1)[:, :-1]
    return ((alpha * trans)[..., None] * rgb).sum(1)


def main():
    args = argparse.Namespace(device="cuda", n_samples=8, lr=5e-4)
    model = NeRF().to(args.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    rays = torch.cat([torch.randn(16, 6), torch.full((16, 1), 2.0), torch.full((16, 1), 6.0)], 1).to(args.device)
    target = torch.rand(16, 3).to(args.device)
    loss = ((render_rays(model, rays, args.n_samples) - target) ** 2).mean()
    loss.backward()
    optimizer.step()
