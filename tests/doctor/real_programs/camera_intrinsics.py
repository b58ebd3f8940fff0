# culprit: self.intrinsics
# cause: tensor_created_in_forward_without_device
import torch


class Camera:
    def __init__(self, fx, fy, pose):
        self.fx = fx
        self.fy = fy
        self.pose = pose

    @property
    def intrinsics(self):
        return torch.tensor([self.fx, self.fy, 1.0])

    def to_cam(self, pts):
        return pts @ self.pose.T

    def project(self, pts):
        cam = self.to_cam(pts)
        cam = cam * self.intrinsics
        return cam[:, :2] / cam[:, 2:]


def main():
    for dev in ("cuda", "cpu"):
        cam = Camera(100.0, 110.0, torch.eye(3, device=dev))
        uv = cam.project(torch.rand(5, 3, device=dev) + 1)
        assert uv.device.type == dev
