import torch
import torch.nn as nn
from kmeans import kmeans


class DEC(nn.Module):
    def __init__(self, in_dim, k, z_dim=3, alpha=1.0):
        super().__init__()
        self.k, self.alpha = k, alpha
        self.encoder = nn.Sequential(nn.Linear(in_dim, 16), nn.ReLU(), nn.Linear(16, z_dim))
        self.decoder = nn.Sequential(nn.Linear(z_dim, 16), nn.ReLU(), nn.Linear(16, in_dim))
        self.centers = None

    @torch.no_grad()
    def init_centers(self, x):
        labels, centers = kmeans(self.encoder(x).numpy(), self.k)
        self.centers = nn.Parameter(torch.from_numpy(centers))
        return labels

    def soft_assign(self, z):
        dist = (z.unsqueeze(1) - self.centers).pow(2).sum(2)
        q = (1.0 + dist / self.alpha).pow(-(self.alpha + 1.0) / 2.0)
        return q / q.sum(dim=1, keepdim=True)

    @staticmethod
    def target_distribution(q):
        weight = q**2 / q.sum(0)
        return weight / weight.sum(1, keepdim=True)
