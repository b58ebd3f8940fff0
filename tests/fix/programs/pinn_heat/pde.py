import math

import torch


def gradient(u, x):
    return torch.autograd.grad(u, x, grad_outputs=torch.ones_like(u), create_graph=True)[0]


def heat_residual(model, points, alpha=0.1):
    points = points.clone().requires_grad_(True)
    u = model(points)
    du = gradient(u, points)
    u_t, u_x = du[:, 1:], du[:, :1]
    u_xx = torch.autograd.grad(u_x, points, torch.ones(len(points), 1), create_graph=True)[0][:, :1]
    return u_t - alpha * u_xx


def exact(x, t, alpha=0.1):
    return math.e ** (-alpha * math.pi**2 * t) * torch.sin(math.pi * x)
