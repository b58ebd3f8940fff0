# culprit: criterion.weight | class_weights
# cause: loss_weight_not_moved
import torch
from torch import nn


def train(model, batches, class_weights, device):
    criterion = nn.CrossEntropyLoss(weight=class_weights)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches:
        loss = criterion(model(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss


def main():
    device = torch.device("cuda")
    batches = [(torch.ones(4, 3), torch.tensor([0, 1, 0, 1]))] * 2
    assert train(nn.Linear(3, 2).to(device), batches, torch.tensor([1.0, 2.0]), device).is_cuda
    assert not train(nn.Linear(3, 2), batches, torch.tensor([1.0, 2.0]), torch.device("cpu")).is_cuda
