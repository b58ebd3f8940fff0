# culprit: distance
# cause: optimizer_state_device
import io

import torch
from torch import nn


class Walker(torch.optim.Optimizer):
    """Keeps the way that it has come in the group, as a tensor, which no load moves."""

    def __init__(self, parameters):
        super().__init__(parameters, {"lr": 0.1, "distance": None})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            distance = group["distance"]
            if distance is None:
                distance = group["distance"] = torch.zeros((), device=group["params"][0].device)
            for parameter in group["params"]:
                distance.add_(parameter.grad.norm())
                parameter.sub_(parameter.grad, alpha=group["lr"])


def walk(model, optimizer):
    model.zero_grad()
    model(torch.ones(2, 3, device="cuda")).sum().backward()
    optimizer.step()


def main():
    model = nn.Linear(3, 1).cuda()
    optimizer = Walker(model.parameters())
    walk(model, optimizer)
    before, file = float(optimizer.param_groups[0]["distance"]), io.BytesIO()
    torch.save(optimizer.state_dict(), file)
    file.seek(0)
    again = Walker(model.parameters())
    again.load_state_dict(torch.load(file, map_location="cpu"))
    walk(model, again)
    kept = again.param_groups[0]["distance"]
    assert kept.is_cuda and float(kept) > before
