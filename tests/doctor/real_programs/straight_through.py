# culprit: decay
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn


class StraightThroughSign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sign(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        decay = torch.linspace(1.0, 0.5, grad_output.size(-1))
        inside = (x.abs() <= 1).to(grad_output.dtype)
        return grad_output * inside * decay


class BinaryNet(nn.Module):
    def __init__(self, dim=10):
        super().__init__()
        self.fc1 = nn.Linear(dim, 16)
        self.bn = nn.BatchNorm1d(16)
        self.fc2 = nn.Linear(16, 3)

    def forward(self, x):
        return self.fc2(StraightThroughSign.apply(self.bn(self.fc1(x))))


def main():
    device = torch.device("cuda:0")
    net = BinaryNet().to(device)
    opt = torch.optim.Adam(net.parameters())
    for _ in range(3):
        x = torch.randn(8, 10, device=device)
        y = torch.randint(0, 3, (8,), device=device)
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
