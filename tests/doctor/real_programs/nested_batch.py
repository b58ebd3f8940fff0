# culprit: t["boxes"]
# cause: target_not_moved | input_not_moved | container_not_moved
import torch
from torch import nn
import torch.nn.functional as F


def to_device(obj, device):
    if torch.is_tensor(obj):
        return obj.to(device, non_blocking=True)
    if isinstance(obj, dict):
        return {k: to_device(v, device) for k, v in obj.items()}
    return obj


class BoxRegressor(nn.Module):
    def __init__(self, queries=3):
        super().__init__()
        self.queries = queries
        self.fc = nn.Linear(6, queries * 4)

    def forward(self, inputs):
        h = inputs["pixels"] + inputs["extra"]["depth"]
        return self.fc(h).view(-1, self.queries, 4).sigmoid()


def box_loss(pred, targets):
    total = 0
    for p, t in zip(pred, targets):
        total = total + F.l1_loss(p[:len(t["boxes"])], t["boxes"])
    return total / len(targets)


def make_batch(n=4):
    inputs = {"pixels": torch.randn(n, 6), "extra": {"depth": torch.randn(n, 6)}}
    targets = [{"boxes": torch.rand(1 + i % 3, 4), "id": i} for i in range(n)]
    return {"inputs": inputs, "targets": targets}


def main():
    model = BoxRegressor().cuda()
    device = next(model.parameters()).device
    for _ in range(2):
        batch = to_device(make_batch(), device)
        loss = box_loss(model(batch["inputs"]), batch["targets"])
        loss.backward()
