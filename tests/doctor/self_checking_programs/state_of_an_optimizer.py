# culprit: average | state["average"]
# cause: optimizer_state_device
import torch
from torch import nn


class SignOfTheAverage(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, dict(lr=lr))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                average = self.state[p].setdefault("average", torch.zeros(p.shape))
                average.mul_(0.9).add_(p.grad, alpha=0.1)
                p.add_(average.sign(), alpha=-group["lr"])


def main():
    model = nn.Linear(3, 2).to("cuda")
    optimizer = SignOfTheAverage(model.parameters())
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.ones(1, 3, device="cuda")).sum().backward()
        optimizer.step()
    for state in optimizer.state.values():
        assert state["average"].is_cuda
        torch.testing.assert_close(state["average"], torch.full_like(state["average"], 0.19))
