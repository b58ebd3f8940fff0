# culprit: self.blocks[0].weight
# cause: unregistered_tensor_attribute
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [nn.Linear(8, 8) for _ in range(3)]
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        for block in self.blocks:
            x = torch.relu(block(x))
        return self.head(x)


def main():
    net = Net().to("cuda")
    net(torch.randn(4, 8, device="cuda"))
