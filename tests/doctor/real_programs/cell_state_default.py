# culprit: h
# cause: tensor_created_in_forward_without_device | hidden_state_not_moved
import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.lin = nn.Linear(2 * dim, dim)

    def init_state(self, batch, device=torch.device("cpu")):
        return torch.zeros(batch, self.dim, device=device)

    def forward(self, x, h):
        return torch.tanh(self.lin(torch.cat([x, h], dim=-1)))


class Net(nn.Module):
    def __init__(self, dim=4):
        super().__init__()
        self.cell = Cell(dim)

    def forward(self, xs):
        h = self.cell.init_state(xs.shape[1])
        for x in xs:
            h = self.cell(x, h)
        return h


def main():
    for dev in ("cuda", "cpu"):
        net = Net().to(dev)
        out = net(torch.randn(3, 2, 4, device=dev))
        assert out.device.type == dev
