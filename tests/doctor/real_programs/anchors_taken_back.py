# culprit: anchors
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn


class AnchorGenerator:
    def __init__(self, stride=4):
        self.stride = stride

    def generate(self, feat):
        h, w = feat.shape[-2:]
        ys = torch.arange(h, device=feat.device) * self.stride
        xs = torch.arange(w, device=feat.device) * self.stride
        anchors = torch.cartesian_prod(ys, xs).float()
        return anchors.cpu()


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.anchors = AnchorGenerator()
        self.reg = nn.Conv2d(3, 2, 1)

    def forward(self, feat):
        delta = self.reg(feat).flatten(2).transpose(1, 2)
        anchors = self.anchors.generate(feat)
        return anchors + delta


def main():
    for dev in ("cuda", "cpu"):
        head = Head().to(dev)
        out = head(torch.randn(1, 3, 4, 4, device=dev))
        assert out.device.type == dev
