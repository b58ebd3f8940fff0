import torch
import torch.nn as nn
from sampling import farthest_point_sample, index_points, query_ball_point


class SetAbstraction(nn.Module):
    def __init__(self, npoint, radius, nsample, out):
        super().__init__()
        self.npoint, self.radius, self.nsample = npoint, radius, nsample
        self.mlp = nn.Sequential(nn.Linear(3, out), nn.ReLU(), nn.Linear(out, out))

    def forward(self, xyz):
        new_xyz = index_points(xyz, farthest_point_sample(xyz, self.npoint))
        idx = query_ball_point(self.radius, self.nsample, xyz, new_xyz)
        local = index_points(xyz, idx) - new_xyz.unsqueeze(2)
        return new_xyz, self.mlp(local).max(dim=2).values


class PointNet2(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.sa = SetAbstraction(npoint=6, radius=0.8, nsample=5, out=16)
        self.fc = nn.Sequential(nn.Linear(19, 16), nn.ReLU(), nn.Linear(16, classes))

    def forward(self, xyz):
        new_xyz, feats = self.sa(xyz)
        return self.fc(torch.cat([new_xyz, feats], dim=-1).max(dim=1).values)
