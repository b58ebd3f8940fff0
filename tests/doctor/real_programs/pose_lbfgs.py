# culprit: observed | pixels
# cause: target_not_moved | input_not_moved
import torch
from torch import nn


class PoseModel(nn.Module):
    def __init__(self, focal=2.0):
        super().__init__()
        self.rotvec = nn.Parameter(torch.tensor([0.01, 0.0, 0.0]))
        self.translation = nn.Parameter(torch.tensor([0.0, 0.0, 4.0]))
        self.focal = focal

    def rotation(self):
        x, y, z = self.rotvec
        o = torch.zeros_like(x)
        skew = torch.stack([o, -z, y, z, o, -x, -y, x, o]).view(3, 3)
        return torch.linalg.matrix_exp(skew)

    def forward(self, points):
        cam = points @ self.rotation().T + self.translation
        return self.focal * cam[:, :2] / cam[:, 2:]


def read_correspondences(n=20):
    points = torch.rand(n, 3) - 0.5
    pixels = 2.0 * points[:, :2] / (points[:, 2:] + 4.2)
    return points, pixels


def refine(model, points, observed, iterations=3):
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=5)

    def closure():
        optimizer.zero_grad()
        residual = model(points) - observed
        loss = nn.functional.huber_loss(residual, torch.zeros_like(residual))
        loss.backward()
        return loss

    for _ in range(iterations):
        optimizer.step(closure)
    return model


def main():
    device = torch.device("cuda")
    points, pixels = read_correspondences()
    model = PoseModel().to(device)
    refine(model, points.to(device), pixels)
    return model.translation.tolist()
