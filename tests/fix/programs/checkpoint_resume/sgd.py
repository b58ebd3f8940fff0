import torch


class MomentumSGD:
    def __init__(self, named_parameters, lr=0.05, momentum=0.9):
        self.params = dict(named_parameters)
        self.lr, self.momentum = lr, momentum
        self.buffers = {name: torch.zeros_like(p) for name, p in self.params.items()}

    @torch.no_grad()
    def step(self):
        for name, p in self.params.items():
            self.buffers[name].mul_(self.momentum).add_(p.grad)
            p -= self.lr * self.buffers[name]

    def zero_grad(self):
        for p in self.params.values():
            p.grad = None

    def state_dict(self):
        return {"lr": self.lr, "momentum": self.momentum, "buffers": self.buffers}

    def load_state_dict(self, state):
        self.lr, self.momentum = state["lr"], state["momentum"]
        self.buffers = state["buffers"]
