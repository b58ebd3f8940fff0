# culprit: m
# cause: optimizer_state_device
import torch
from torch import nn


class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99)):
        super().__init__(params, dict(lr=lr, betas=betas))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                state = self.state[p]
                m = state.setdefault("m", torch.zeros_like(p))
                update = m * b1 + p.grad * (1 - b1)
                p.add_(update.sign(), alpha=-group["lr"])
                m.mul_(b2).add_(p.grad, alpha=1 - b2)


def train(model, optimizer, steps, device):
    for _ in range(steps):
        x = torch.randn(4, 6, device=device)
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return {"model": model.state_dict(), "optimizer": optimizer.state_dict()}


def resume(checkpoint, device):
    model = nn.Linear(6, 2)
    optimizer = Lion(model.parameters())
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    return model.to(device), optimizer


def main():
    model = nn.Linear(6, 2)
    checkpoint = train(model, Lion(model.parameters()), 2, "cpu")
    model, optimizer = resume(checkpoint, "cuda:0")
    train(model, optimizer, 2, "cuda:0")
