# culprit: self.k_inv | self.k_inv.T
# cause: unregistered_tensor_attribute
from dataclasses import dataclass
import torch
from torch import nn


@dataclass
class Camera:
    k_inv: torch.Tensor
    pose: torch.Tensor
    height: int
    width: int

    @classmethod
    def orbit(cls, angle, height=8, width=8, focal=10.0):
        c, s = torch.cos(torch.tensor(angle)).item(), torch.sin(torch.tensor(angle)).item()
        k = torch.tensor([[focal, 0, width / 2], [0, focal, height / 2], [0, 0, 1.0]])
        pose = torch.tensor([[c, 0, s, 3 * s], [0, 1, 0, 0], [-s, 0, c, 3 * c]])
        return cls(torch.linalg.inv(k), pose, height, width)

    def rays(self, pixels):
        directions = pixels @ self.k_inv.T @ self.pose[:, :3].T
        return self.pose[:, 3].expand_as(directions), nn.functional.normalize(directions, dim=-1)


def sample_pixels(camera, n, device):
    u = torch.randint(0, camera.width, (n,), device=device)
    v = torch.randint(0, camera.height, (n,), device=device)
    return torch.stack([u + 0.5, v + 0.5, torch.ones_like(u, dtype=torch.float)], -1), v * camera.width + u


class RadianceField(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, hidden), nn.ReLU(), nn.Linear(hidden, 4))

    def forward(self, origin, direction, samples=6):
        depth = torch.linspace(1, 5, samples, device=origin.device)
        points = origin[:, None] + depth[None, :, None] * direction[:, None]
        out = self.net(points)
        weight = out[..., 3].softmax(-1)
        return (weight[..., None] * out[..., :3].sigmoid()).sum(1)


def main():
    device = torch.device("cuda")
    cameras = [Camera.orbit(a) for a in (0.0, 0.7, 1.4)]
    images = torch.rand(3, 64, 3, device=device)
    field = RadianceField().to(device)
    optimizer = torch.optim.Adam(field.parameters(), lr=5e-4)
    for camera, image in zip(cameras, images):
        pixels, index = sample_pixels(camera, 16, device)
        loss = (field(*camera.rays(pixels)) - image[index]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
