import torch
import torch.nn as nn
import torch.nn.functional as F


class Expert(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, dim))

    def forward(self, x):
        return self.net(x)


class MoE(nn.Module):
    def __init__(self, dim, num_experts=4, hidden=16, k=2):
        super().__init__()
        self.k, self.num_experts = k, num_experts
        self.gate = nn.Linear(dim, num_experts, bias=False)
        self.experts = [Expert(dim, hidden) for _ in range(num_experts)]
        self.usage = torch.zeros(num_experts)

    def cv_squared(self, x):
        return x.var(unbiased=False) / (x.mean() ** 2 + 1e-10)

    def forward(self, x):
        gates = F.softmax(self.gate(x), dim=-1)
        top_gates, top_idx = gates.topk(self.k, dim=-1)
        top_gates = top_gates / top_gates.sum(dim=-1, keepdim=True)
        out = torch.zeros(x.shape)
        for i, expert in enumerate(self.experts):
            rows, slots = torch.where(top_idx == i)
            if rows.numel() == 0:
                continue
            out.index_add_(0, rows, expert(x[rows]) * top_gates[rows, slots, None])
        self.usage += torch.bincount(top_idx.flatten(), minlength=self.num_experts)
        return out, self.cv_squared(gates.sum(0))
