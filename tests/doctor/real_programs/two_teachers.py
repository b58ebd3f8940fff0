# culprit: self.big[0].weight | self.big
# cause: model_not_moved
import torch
from torch import nn


class Distiller:
    def __init__(self, student, teachers, device):
        self.student = student.to(device)
        self.big, self.small = teachers
        self.device = device

    def loss(self, x):
        x = x.to(self.device)
        s = self.student(x)
        with torch.no_grad():
            a = self.big(x)
            b = self.small(x)
        return ((s - a) ** 2).mean() + ((s - b) ** 2).mean()


def main():
    teachers = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2)), nn.Linear(4, 2)
    distiller = Distiller(nn.Linear(4, 2), teachers, "cuda")
    for _ in range(2):
        loss = distiller.loss(torch.randn(3, 4))
    assert loss.is_cuda
