# culprit: y0
# cause: input_not_moved
import torch
from torch import nn


def odeint(func, y0, t):
    y = y0
    out = [y]
    for i in range(len(t) - 1):
        y = y + (t[i + 1] - t[i]) * func(t[i], y)
        out.append(y)
    return torch.stack(out)


def main():
    func_net = nn.Linear(2, 2).cuda()
    y0 = torch.tensor([[2.0, 0.0]])
    t = torch.linspace(0.0, 1.0, 5)
    odeint(lambda t, y: func_net(y**3), y0, t)
