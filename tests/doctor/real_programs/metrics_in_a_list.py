# culprit: self.correct
# cause: unregistered_tensor_attribute
import torch
from torch import nn


class Accuracy(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("correct", torch.zeros(n))
        self.register_buffer("total", torch.zeros(()))

    def update(self, preds, target):
        self.correct += torch.bincount(preds.argmax(1)[preds.argmax(1) == target], minlength=len(self.correct))
        self.total += target.numel()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(6, 3)
        self.metrics = [Accuracy(3)]

    def step(self, x, y):
        out = self.net(x)
        for m in self.metrics:
            m.update(out, y)
        return out


def main():
    m = Model().cuda()
    m.step(torch.randn(4, 6).cuda(), torch.randint(0, 3, (4,)).cuda())
