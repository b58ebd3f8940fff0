import torch
import torch.nn as nn


class MultiTaskNet(nn.Module):
    """A shared trunk, one head a task, and the criterions that go with them."""

    def __init__(self, in_dim=12, hidden=24, class_weight=(1.0, 3.0)):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(in_dim, hidden), nn.ReLU())
        self.heads = nn.ModuleDict({"sex": nn.Linear(hidden, 2), "age": nn.Linear(hidden, 1)})
        self.criterions = {
            "sex": nn.CrossEntropyLoss(weight=torch.tensor(class_weight)),
            "age": nn.SmoothL1Loss(),
        }
        self.log_vars = [nn.Parameter(torch.zeros(1)) for _ in self.heads]

    def forward(self, x):
        h = self.trunk(x)
        return {name: head(h).squeeze(-1) for name, head in self.heads.items()}

    def loss(self, outputs, targets):
        total, parts = 0.0, {}
        for log_var, (name, criterion) in zip(self.log_vars, self.criterions.items()):
            parts[name] = criterion(outputs[name], targets[name])
            total = total + torch.exp(-log_var) * parts[name] + 0.5 * log_var
        return total.sum(), parts
