# culprit: noise | random_jitter(points.shape, 0.01)
# cause: wrong_default_index | hardcoded_cuda
import torch
from torch import nn


def random_jitter(shape, sigma, clip=0.05):
    noise = torch.randn(shape, device="cuda") * sigma
    return noise.clamp(-clip, clip)


def farthest_points(points, k):
    chosen = [torch.zeros(len(points), dtype=torch.long, device=points.device)]
    distance = torch.full(points.shape[:2], float("inf"), device=points.device)
    rows = torch.arange(len(points), device=points.device)
    for _ in range(k - 1):
        last = points[rows, chosen[-1]].unsqueeze(1)
        distance = torch.minimum(distance, (points - last).pow(2).sum(-1))
        chosen.append(distance.argmax(1))
    return torch.stack(chosen, 1)


class PointEncoder(nn.Module):
    def __init__(self, k=8, dim=32, classes=5):
        super().__init__()
        self.k = k
        self.lift = nn.Sequential(nn.Linear(3, dim), nn.ReLU(), nn.Linear(dim, dim))
        self.head = nn.Linear(dim, classes)

    def forward(self, points):
        if self.training:
            noise = random_jitter(points.shape, 0.01)
            points = points + noise
        index = farthest_points(points, self.k)
        centers = points.gather(1, index.unsqueeze(-1).expand(-1, -1, 3))
        return self.head(self.lift(centers).amax(1))


def main(rank=1):
    device = torch.device("cuda", rank)
    model = PointEncoder().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    clouds = torch.rand(4, 64, 3, device=device)
    labels = torch.randint(0, 5, (4,), device=device)
    loss = nn.functional.cross_entropy(model(clouds), labels)
    loss.backward()
    optimizer.step()
