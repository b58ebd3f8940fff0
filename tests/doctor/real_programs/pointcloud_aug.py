# culprit: rotation
# cause: hardcoded_cuda
import math
import torch
from torch import nn


def random_rotation(batch):
    angle = torch.rand(batch).cuda() * 2 * math.pi
    c, s = angle.cos(), angle.sin()
    zero, one = torch.zeros_like(c), torch.ones_like(c)
    rows = [torch.stack(r, -1) for r in ((c, -s, zero), (s, c, zero), (zero, zero, one))]
    return torch.stack(rows, dim=1)


class PointNet(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 32))
        self.head = nn.Linear(32, classes)

    def forward(self, points):
        return self.head(self.mlp(points).amax(dim=1))


def augment(points):
    rotation = random_rotation(points.size(0))
    points = torch.bmm(points, rotation)
    return points + 0.01 * torch.randn_like(points)


def main(device="cpu"):
    model = PointNet().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        clouds = torch.randn(4, 32, 3, device=device)
        labels = torch.randint(0, 4, (4,), device=device)
        logits = model(augment(clouds))
        loss = nn.functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
