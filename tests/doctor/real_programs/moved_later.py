# culprit: flat | images
# cause: input_not_moved
import torch
from torch import nn


def step(model, batch, device):
    images, labels, names, weights = batch
    flat = images.flatten(1)
    logits = model(flat)
    labels_gpu = labels.to(device, non_blocking=True)
    loss = nn.functional.cross_entropy(logits, labels_gpu, reduction="none")
    loss = (loss * weights).mean()
    hist = torch.bincount(labels, minlength=3)
    return loss, hist.numpy(), labels.tolist()


def main():
    device = torch.device("cuda")
    model = nn.Linear(12, 3).to(device)
    batch = (torch.randn(4, 3, 4), torch.randint(0, 3, (4,)), ["a"] * 4, torch.rand(4))
    loss, hist, _ = step(model, batch, device)
    assert loss.is_cuda and hist.sum() == 4
