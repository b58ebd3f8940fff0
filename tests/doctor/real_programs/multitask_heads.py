# culprit: head | head.weight | self.heads
# cause: unregistered_tensor_attribute | model_not_moved
import torch
import torch.nn.functional as F
from torch import nn


class MultiTaskModel(nn.Module):
    def __init__(self, tasks, in_dim=10, hidden=16):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(in_dim, hidden), nn.ReLU())
        self.heads = {name: nn.Linear(hidden, n) for name, n in tasks.items()}

    def forward(self, x):
        h = self.trunk(x)
        return {task: head(h) for task, head in self.heads.items()}


class MultiTaskLoss(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.log_vars = nn.ParameterDict({t: nn.Parameter(torch.zeros(())) for t in tasks})

    def forward(self, outputs, targets):
        losses = {t: F.cross_entropy(outputs[t], targets[t]) for t in outputs}
        return sum(loss * torch.exp(-self.log_vars[t]) + self.log_vars[t] for t, loss in losses.items())


def main():
    tasks = {"intent": 5, "sentiment": 3}
    model, criterion = MultiTaskModel(tasks).to("cuda"), MultiTaskLoss(tasks).to("cuda")
    optimizer = torch.optim.Adam([*model.parameters(), *criterion.parameters()], lr=1e-3)
    for _ in range(2):
        x = torch.randn(4, 10, device="cuda")
        y = {t: torch.randint(0, n, (4,), device="cuda") for t, n in tasks.items()}
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
