# culprit: lam_img | lam
# cause: tensor_created_in_forward_without_device | input_not_moved
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def mixup_data(x, y, alpha=0.4):
    lam = torch.from_numpy(np.random.beta(alpha, alpha, size=x.size(0))).float()
    index = torch.randperm(x.size(0), device=x.device)
    lam_img = lam.view(-1, 1, 1, 1)
    mixed = lam_img * x + (1 - lam_img) * x[index]
    return mixed, y, y[index], lam


def mixup_criterion(logits, y_a, y_b, lam):
    loss_a = F.cross_entropy(logits, y_a, reduction="none")
    loss_b = F.cross_entropy(logits, y_b, reduction="none")
    return (lam * loss_a + (1 - lam) * loss_b).mean()


def train_epoch(model, loader, optimizer, device):
    model.train()
    for inputs, targets in loader:
        inputs, targets = inputs.to(device, non_blocking=True), targets.to(device, non_blocking=True)
        inputs, y_a, y_b, lam = mixup_data(inputs, targets)
        loss = mixup_criterion(model(inputs), y_a, y_b, lam)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()


def main():
    device = "cuda:0"
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 5)).to(
        device
    )
    loader = [(torch.rand(4, 3, 8, 8), torch.randint(0, 5, (4,))) for _ in range(2)]
    train_epoch(model, loader, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), device)
