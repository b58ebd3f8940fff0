# culprit: anchors | batch["anchors"] | anchors[..., :2] | anchors[..., 2:]
# cause: input_not_moved
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class BoxDataset(Dataset):
    def __init__(self, n=8, grid=4, stride=8):
        self.n = n
        ys, xs = torch.meshgrid(torch.arange(grid), torch.arange(grid), indexing="ij")
        centers = (torch.stack([xs, ys], -1).reshape(-1, 2) + 0.5) * stride
        self.anchors = torch.cat([centers, torch.full_like(centers, 2.0 * stride)], -1)

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        boxes = torch.rand(16, 4) * 32
        return {"image": torch.randn(3, 32, 32), "boxes": boxes, "anchors": self.anchors}


def decode(deltas, anchors):
    cxcy = deltas[..., :2] * anchors[..., 2:] + anchors[..., :2]
    wh = deltas[..., 2:].exp() * anchors[..., 2:]
    return torch.cat([cxcy, wh], -1)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Conv2d(3, 4, 8, stride=8)

    def forward(self, image):
        return self.body(image).flatten(2).transpose(1, 2)


def main():
    cfg = {"device": "cuda:0", "batch_size": 4}
    net = Detector().to(cfg["device"])
    for batch in DataLoader(BoxDataset(), batch_size=cfg["batch_size"]):
        image = batch["image"].to(cfg["device"])
        boxes = batch["boxes"].to(cfg["device"])
        pred = decode(net(image), batch["anchors"])
        loss = (pred - boxes).abs().mean()
        loss.backward()
