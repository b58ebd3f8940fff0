# culprit: batch["labels"]
# cause: target_not_moved | input_not_moved
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.cls = nn.Linear(16, 3)
        self.box = nn.Linear(16, 4)

    def forward(self, x):
        h = self.body(x).relu()
        return self.cls(h), self.box(h)


def training_step(model, batch):
    logits, boxes = model(batch["features"].cuda())
    cls_loss = nn.functional.cross_entropy(logits, batch["labels"])
    box_loss = nn.functional.smooth_l1_loss(boxes, batch["boxes"])
    weight = batch["weights"]
    return (weight * (cls_loss + box_loss)).mean()


def main():
    torch.manual_seed(0)
    model = Head().cuda()
    batch = {"features": torch.randn(6, 8), "labels": torch.randint(0, 3, (6,)), "boxes": torch.rand(6, 4),
             "weights": torch.rand(6), "lengths": torch.tensor([3, 2, 1])}
    loss = training_step(model, batch)
    loss.backward()
    assert loss.is_cuda
