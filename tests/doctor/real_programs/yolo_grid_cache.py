# culprit: self.grids[i] | self.grids
# cause: cached_before_move | unregistered_tensor_attribute
import torch
from torch import nn


class Detect(nn.Module):
    strides = (2, 4)

    def __init__(self, nc=3, ch=(8, 8)):
        super().__init__()
        self.shape, self.grids = None, []
        self.heads = nn.ModuleList(nn.Conv2d(c, 5 + nc, 1) for c in ch)

    def forward(self, feats):
        feats = [head(f) for head, f in zip(self.heads, feats)]
        shape = [tuple(f.shape[-2:]) for f in feats]
        if self.shape != shape:
            self.grids = [self._make_grid(*f.shape[-2:], f.device) for f in feats]
            self.shape = shape
        boxes = []
        for i, f in enumerate(feats):
            y = f.sigmoid().flatten(2).transpose(1, 2)
            xy = (y[..., 0:2] * 2 - 0.5 + self.grids[i]) * self.strides[i]
            boxes.append(torch.cat([xy, y[..., 2:]], -1))
        return torch.cat(boxes, 1)

    @staticmethod
    def _make_grid(h, w, device):
        ys, xs = torch.meshgrid(torch.arange(h, device=device), torch.arange(w, device=device), indexing="ij")
        return torch.stack((xs, ys), -1).view(1, h * w, 2).float()


def main():
    detect = Detect().eval()
    dummy = [torch.zeros(1, 8, 8, 8), torch.zeros(1, 8, 4, 4)]
    n_anchors = detect(dummy).shape[1]
    detect = detect.to("cuda")
    out = detect([torch.randn(2, 8, 8, 8, device="cuda"), torch.randn(2, 8, 4, 4, device="cuda")])
    assert out.shape[1] == n_anchors
