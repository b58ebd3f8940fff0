import torch


def index_points(points, idx):
    batch = torch.arange(points.size(0), device=points.device).view(-1, *[1] * (idx.dim() - 1)).expand_as(idx)
    return points[batch, idx]


def farthest_point_sample(xyz, npoint):
    B, N, _ = xyz.shape
    centroids = torch.zeros(B, npoint, dtype=torch.long, device=xyz.device)
    distance = torch.ones(B, N) * 1e10
    farthest = torch.zeros(B, dtype=torch.long, device=xyz.device)
    for i in range(npoint):
        centroids[:, i] = farthest
        centroid = index_points(xyz, farthest.unsqueeze(1))
        dist = ((xyz - centroid) ** 2).sum(-1)
        distance = torch.min(distance, dist)
        farthest = distance.max(-1).indices
    return centroids


def query_ball_point(radius, nsample, xyz, new_xyz):
    B, N, _ = xyz.shape
    sqrdists = torch.cdist(new_xyz, xyz) ** 2
    group_idx = torch.arange(N, dtype=torch.long).view(1, 1, N).repeat(B, new_xyz.size(1), 1)
    group_idx = torch.where(sqrdists > radius**2, N, group_idx)
    group_idx = group_idx.sort(dim=-1)[0][:, :, :nsample]
    first = group_idx[:, :, :1].expand_as(group_idx)
    return torch.where(group_idx == N, first, group_idx)
