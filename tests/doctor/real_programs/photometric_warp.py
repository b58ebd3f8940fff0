# culprit: make_grid(height, width)[None] | make_grid(height, width)
# cause: tensor_created_in_forward_without_device | input_not_moved
import torch
from torch import nn


def make_grid(height, width):
    ys, xs = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    return torch.stack([xs, ys], -1).float()


def border_mask(height, width):
    mask = torch.ones(height, width)
    mask[0] = mask[-1] = 0
    return mask


def warp(image, flow):
    _, _, height, width = image.shape
    grid = make_grid(height, width)[None] + flow
    grid = grid / max(height, width) * 2 - 1
    return nn.functional.grid_sample(image, grid, align_corners=True)


def photometric_loss(image, other, flow):
    warped = warp(other, flow)
    mask = border_mask(*image.shape[-2:])
    return ((image - warped).abs() * mask).mean()


def main():
    image, other = torch.rand(2, 3, 6, 6, device="cuda"), torch.rand(2, 3, 6, 6, device="cuda")
    flow = torch.zeros(2, 6, 6, 2, device="cuda", requires_grad=True)
    loss = photometric_loss(image, other, flow)
    loss.backward()
    assert loss.is_cuda
