# culprit: t | device
# cause: wrong_default_index | hardcoded_cuda
import torch
from torch import nn


def sample_time(n, device="cuda"):
    return torch.rand(n, device=device)


class FlowMatching(nn.Module):
    def __init__(self, dim=4):
        super().__init__()
        self.net = nn.Linear(dim + 1, dim)

    def loss(self, x1):
        x0 = torch.randn_like(x1)
        t = sample_time(x1.shape[0])
        xt = (1 - t[:, None]) * x0 + t[:, None] * x1
        v = self.net(torch.cat([xt, t[:, None]], dim=-1))
        return (v - (x1 - x0)).pow(2).mean()


def main():
    for dev in ("cuda", "cuda:1", "cpu"):
        m = FlowMatching().to(dev)
        loss = m.loss(torch.randn(6, 4, device=dev))
        assert loss.device == torch.empty(0, device=dev).device
