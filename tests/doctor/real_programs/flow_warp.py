# culprit: base_grid(h, w)
# cause: tensor_created_in_forward_without_device
import functools

import torch
import torch.nn.functional as F
from torch import nn


@functools.lru_cache(maxsize=8)
def base_grid(h, w):
    ys, xs = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
    return torch.stack((xs, ys), dim=0).float().unsqueeze(0)


def backwarp(img, flow):
    b, _, h, w = img.shape
    coords = base_grid(h, w) + flow
    x = 2.0 * coords[:, 0] / (w - 1) - 1.0
    y = 2.0 * coords[:, 1] / (h - 1) - 1.0
    return F.grid_sample(img, torch.stack((x, y), dim=-1), align_corners=True)


class FlowNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(6, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 2, 3, padding=1))

    def forward(self, first, second):
        flow = self.net(torch.cat([first, second], 1))
        return flow, backwarp(second, flow)


def main():
    device = torch.device("cuda", 0)
    model = FlowNet().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    frames = [torch.rand(2, 3, 8, 10).to(device) for _ in range(3)]
    for a, b in zip(frames, frames[1:]):
        flow, warped = model(a, b)
        loss = (warped - a).abs().mean() + 0.01 * flow.abs().mean()
        loss.backward()
        optimizer.step()
