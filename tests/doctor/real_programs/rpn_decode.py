# culprit: size | anchors | self.anchors.grid(h, w)
# cause: tensor_created_in_forward_without_device | unregistered_tensor_attribute
import torch
from torch import nn


class AnchorGenerator:
    def __init__(self, sizes=(32, 64), ratios=(0.5, 1.0, 2.0), stride=16):
        self.stride = stride
        self.cells = self.base_anchors(sizes, ratios)

    @staticmethod
    def base_anchors(sizes, ratios):
        boxes = []
        for s in sizes:
            for r in ratios:
                w, h = s * r ** -0.5, s * r ** 0.5
                boxes.append([-w / 2, -h / 2, w / 2, h / 2])
        return torch.tensor(boxes)

    def grid(self, h, w):
        ys, xs = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        shifts = torch.stack([xs, ys, xs, ys], -1).reshape(-1, 1, 4) * self.stride
        return (shifts + self.cells).reshape(-1, 4)


def decode(deltas, anchors):
    size = anchors[:, 2:] - anchors[:, :2]
    center = anchors[:, :2] + size / 2
    new_center = deltas[..., :2] * size + center
    new_size = deltas[..., 2:].clamp(max=4).exp() * size
    return torch.cat([new_center - new_size / 2, new_center + new_size / 2], -1)


class RPN(nn.Module):
    def __init__(self, ch=16):
        super().__init__()
        self.anchors = AnchorGenerator()
        self.conv = nn.Conv2d(3, ch, 3, stride=16, padding=1)
        self.deltas = nn.Conv2d(ch, 6 * 4, 1)

    def forward(self, images):
        feats = self.conv(images).relu()
        b, _, h, w = feats.shape
        deltas = self.deltas(feats).permute(0, 2, 3, 1).reshape(b, -1, 4)
        anchors = self.anchors.grid(h, w)
        return decode(deltas, anchors)


@torch.no_grad()
def main():
    rpn = RPN().to("cuda").eval()
    images = torch.rand(2, 3, 64, 64, device="cuda")
    return rpn(images)
