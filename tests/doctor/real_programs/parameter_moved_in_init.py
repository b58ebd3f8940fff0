# culprit: self.alpha
# cause: unregistered_tensor_attribute
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.alpha = nn.Parameter(torch.ones(4)).to("cpu").clone()

    def forward(self, x):
        return self.fc(x) * self.alpha


def main():
    net = Net().cuda()
    net(torch.randn(2, 4).cuda()).sum().backward()
