# culprit: anchors | sizes
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn


def base_anchors(cfg):
    sizes = torch.tensor(cfg["sizes"]).float()
    ratios = torch.tensor(cfg["ratios"]).sqrt()
    w = sizes[:, None] * ratios
    h = sizes[:, None] / ratios
    return torch.stack([w, h], -1).reshape(-1, 2)


def decode(deltas, anchors):
    wh = deltas[..., 2:].exp() * anchors
    xy = deltas[..., :2]
    return torch.cat([xy - wh / 2, xy + wh / 2], -1)


class Detector(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.k = len(cfg["sizes"]) * len(cfg["ratios"])
        self.head = nn.Linear(5, self.k * 4)

    def forward(self, x):
        anchors = base_anchors(self.cfg)
        deltas = self.head(x).view(x.shape[0], self.k, 4)
        return decode(deltas, anchors)


def main():
    for dev in ("cuda", "cpu"):
        m = Detector({"sizes": [8, 16], "ratios": [0.5, 1.0, 2.0]}).to(dev)
        out = m(torch.randn(2, 5, device=dev))
        assert out.device.type == dev
