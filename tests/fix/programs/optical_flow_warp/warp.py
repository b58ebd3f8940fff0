import torch
import torch.nn.functional as F

backwarp_grid = {}


def backwarp(image, flow):
    """Sample `image` where `flow`, in pixels, points to."""
    key = tuple(flow.shape)
    if key not in backwarp_grid:
        n, _, h, w = flow.shape
        hor = torch.linspace(-1.0, 1.0, w).view(1, 1, 1, w).expand(n, -1, h, -1)
        ver = torch.linspace(-1.0, 1.0, h).view(1, 1, h, 1).expand(n, -1, -1, w)
        backwarp_grid[key] = torch.cat([hor, ver], dim=1)
    h, w = flow.shape[2:]
    scaled = torch.cat([flow[:, :1] / ((w - 1) / 2), flow[:, 1:] / ((h - 1) / 2)], dim=1)
    grid = (backwarp_grid[key] + scaled).permute(0, 2, 3, 1)
    return F.grid_sample(image, grid, padding_mode="border", align_corners=True)
