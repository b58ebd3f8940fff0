# culprit: index | index[:, None] | index[:, None].expand_as(messages) | torch.from_numpy(receivers)
# cause: tensor_created_in_forward_without_device | input_not_moved
import numpy as np
import torch
from torch import nn


class MeshConv(nn.Module):
    def __init__(self, in_dim, out_dim):
        super().__init__()
        self.lin = nn.Linear(2 * in_dim, out_dim)

    def forward(self, x, senders, receivers):
        messages = self.lin(torch.cat([x[senders], x[receivers]], dim=-1))
        out = torch.zeros(x.size(0), messages.size(1), device=x.device)
        index = torch.from_numpy(receivers)
        out.scatter_add_(0, index[:, None].expand_as(messages), messages)
        return torch.relu(out)


class MeshNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = MeshConv(3, 8)
        self.conv2 = MeshConv(8, 1)

    def forward(self, x, edges):
        senders, receivers = edges
        return self.conv2(self.conv1(x, senders, receivers), senders, receivers)


def main():
    rng = np.random.default_rng(0)
    faces = rng.integers(0, 10, size=(12, 3))
    edges = np.concatenate([faces[:, :2], faces[:, 1:]]).T.copy()
    net = MeshNet().cuda()
    x = torch.randn(10, 3).cuda()
    target = torch.randn(10, 1).cuda()
    loss = (net(x, edges) - target).square().mean()
    loss.backward()
