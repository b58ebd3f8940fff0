# culprit: model | swa_model
# cause: model_not_moved
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel


def train_one_epoch(model, loader, optimizer, device):
    model.train()
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def accuracy(model, loader, device):
    model.eval()
    hits = 0
    for x, y in loader:
        hits += (model(x.to(device)).argmax(1).cpu() == y).sum().item()
    return hits / sum(len(y) for _, y in loader)


def main():
    device = torch.device("cuda")
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    swa_model = AveragedModel(model)
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    loader = [(torch.randn(4, 8), torch.randint(0, 3, (4,))) for _ in range(3)]
    for epoch in range(4):
        train_one_epoch(model, loader, optimizer, device)
        if epoch >= 2:
            swa_model.update_parameters(model)
    print("last", accuracy(model, loader, device))
    print("swa", accuracy(swa_model, loader, device))
