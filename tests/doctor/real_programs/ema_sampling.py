# culprit: model | ema.model | ema | self.net
# cause: model_not_moved
import copy
import torch
from torch import nn


class EMA:
    def __init__(self, model, decay=0.999):
        self.decay = decay
        self.model = copy.deepcopy(model).eval().requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for shadow, p in zip(self.model.parameters(), model.parameters()):
            shadow.copy_(torch.lerp(shadow, p.to(shadow.device), 1 - self.decay))


class FlowNet(nn.Module):
    def __init__(self, dim=2, hidden=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim + 1, hidden), nn.SiLU(), nn.Linear(hidden, dim))

    def forward(self, x, t):
        return self.net(torch.cat([x, t.expand(x.shape[0], 1)], dim=1))


@torch.no_grad()
def euler_sample(model, n, steps, device):
    x = torch.randn(n, 2, device=device)
    for i in range(steps):
        t = torch.full((1, 1), i / steps, device=device)
        x = x + model(x, t) / steps
    return x


def main():
    device = torch.device("cuda")
    net = FlowNet()
    ema = EMA(net)
    net.to(device)
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(3):
        x1 = torch.randn(16, 2, device=device)
        x0 = torch.randn_like(x1)
        t = torch.rand(16, 1, device=device)
        pred = net.net(torch.cat([x0 + t * (x1 - x0), t], dim=1))
        loss = (pred - (x1 - x0)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        ema.update(net)
    return euler_sample(ema.model, 8, 4, device)
