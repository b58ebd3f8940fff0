import torch
from torch import autograd


def calc_gradient_penalty(netD, real, fake, lam=10):
    alpha = torch.rand(real.size(0), 1)
    interpolates = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    disc = netD(interpolates)
    gradients = autograd.grad(
        outputs=disc,
        inputs=interpolates,
        grad_outputs=torch.ones(disc.size()),
        create_graph=True,
        retain_graph=True,
    )[0]
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean() * lam


def weights_norm(net):
    return sum(p.detach().pow(2).sum() for p in net.parameters()).sqrt().item()
