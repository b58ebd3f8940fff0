import torch
from torch.optim import Optimizer


class Adan(Optimizer):
    """Simplified: momentum and a running second moment per parameter."""

    def __init__(self, params, lr=1e-2, betas=(0.9, 0.99), eps=1e-8):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["exp_avg"] = torch.zeros(p.shape)
                    state["exp_avg_sq"] = torch.zeros(p.shape)
                state["step"] += 1
                state["exp_avg"].lerp_(p.grad, 1 - b1)
                state["exp_avg_sq"].mul_(b2).addcmul_(p.grad, p.grad, value=1 - b2)
                m = state["exp_avg"] / (1 - b1 ** state["step"])
                v = state["exp_avg_sq"] / (1 - b2 ** state["step"])
                p.addcdiv_(m, v.sqrt().add_(group["eps"]), value=-group["lr"])


class Lookahead:
    def __init__(self, optimizer, k=3, alpha=0.5):
        self.optimizer, self.k, self.alpha = optimizer, k, alpha
        self.counter = 0
        self.slow = [[p.detach().clone().cpu() for p in g["params"]] for g in optimizer.param_groups]

    def zero_grad(self):
        self.optimizer.zero_grad()

    @torch.no_grad()
    def step(self):
        self.optimizer.step()
        self.counter += 1
        if self.counter % self.k:
            return
        for group, slow_weights in zip(self.optimizer.param_groups, self.slow):
            for p, q in zip(group["params"], slow_weights):
                q.add_(p.data - q, alpha=self.alpha)
                p.data.copy_(q)
