# culprit: torch.eye(n) | torch.eye(n)[y]
# cause: index_on_wrong_device | tensor_created_in_forward_without_device
import torch
from torch import nn
import torch.nn.functional as F


def smooth_labels(y, n, eps=0.1):
    targets = torch.eye(n)[y]
    return targets * (1 - eps) + eps / n


def run_epoch(model, loader, optimizer, n_classes):
    device = next(model.parameters()).device
    model.train()
    running = 0.0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        log_probs = F.log_softmax(model(x), dim=1)
        loss = -(smooth_labels(y, n_classes) * log_probs).sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    return running / len(loader)


def main():
    model = nn.Sequential(nn.Flatten(), nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 5))
    model.to("cuda:1")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loader = [(torch.randn(6, 1, 4, 4), torch.randint(0, 5, (6,))) for _ in range(3)]
    for _ in range(2):
        run_epoch(model, loader, optimizer, 5)
