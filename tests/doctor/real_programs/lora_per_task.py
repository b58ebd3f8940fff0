# culprit: self.adapters[task] | adapter | self.down | self.down.weight
# cause: unregistered_tensor_attribute | model_not_moved
import torch
from torch import nn


class LoRA(nn.Module):
    def __init__(self, d_in, d_out, rank=4, alpha=8):
        super().__init__()
        self.down = nn.Linear(d_in, rank, bias=False)
        self.up = nn.Linear(rank, d_out, bias=False)
        nn.init.zeros_(self.up.weight)
        self.scale = alpha / rank

    def forward(self, x):
        return self.up(self.down(x)) * self.scale


class AdaptedLinear(nn.Module):
    def __init__(self, base, tasks, rank=4):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.adapters = {t: LoRA(base.in_features, base.out_features, rank) for t in tasks}

    def forward(self, x, task):
        adapter = self.adapters[task]
        return self.base(x) + adapter(x)


class MultiTaskMLP(nn.Module):
    def __init__(self, tasks, dim=16):
        super().__init__()
        self.fc1 = AdaptedLinear(nn.Linear(dim, 2 * dim), tasks)
        self.fc2 = AdaptedLinear(nn.Linear(2 * dim, dim), tasks)

    def forward(self, x, task):
        return self.fc2(self.fc1(x, task).relu(), task)

    def task_parameters(self, task):
        for layer in (self.fc1, self.fc2):
            yield from layer.adapters[task].parameters()


def main():
    device = torch.device("cuda")
    tasks = ["summarize", "translate"]
    model = MultiTaskMLP(tasks).to(device)
    optimizers = {t: torch.optim.Adam(model.task_parameters(t), lr=1e-3) for t in tasks}
    for task in tasks:
        x, y = torch.randn(8, 16, device=device), torch.randn(8, 16, device=device)
        loss = nn.functional.mse_loss(model(x, task), y)
        optimizers[task].zero_grad()
        loss.backward()
        optimizers[task].step()
