# culprit: query_x
# cause: in_place_or_copy | input_not_moved
import torch
from torch import nn
from torch.func import functional_call
import torch.nn.functional as F


def sample_task(shots=5):
    amplitude, phase = torch.rand(2)
    x = torch.rand(2 * shots, 1) * 10 - 5
    y = (amplitude + 0.1) * torch.sin(x + phase)
    return x[:shots], y[:shots], x[shots:], y[shots:]


def adapt(model, params, x, y, inner_lr=0.01, steps=2):
    for _ in range(steps):
        loss = F.mse_loss(functional_call(model, params, (x,)), y)
        grads = torch.autograd.grad(loss, tuple(params.values()), create_graph=True)
        params = {n: p - inner_lr * g for (n, p), g in zip(params.items(), grads)}
    return params


def main():
    device = torch.device("cuda", 1)
    model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1)).to(device)
    meta_opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for iteration in range(2):
        meta_loss = 0.0
        for _ in range(2):
            support_x, support_y, query_x, query_y = sample_task()
            support_x = support_x.to(device)
            support_y = support_y.to(device)
            query_x.to(device)
            query_y = query_y.to(device)
            fast = adapt(model, dict(model.named_parameters()), support_x, support_y)
            prediction = functional_call(model, fast, (query_x,))
            meta_loss = meta_loss + F.mse_loss(prediction, query_y)
        meta_opt.zero_grad()
        meta_loss.backward()
        meta_opt.step()
