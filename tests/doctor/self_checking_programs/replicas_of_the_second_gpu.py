# culprit: model
# cause: data_parallel_root_device
import torch
from torch import nn


def train(model, device, batches):
    model = nn.DataParallel(model.to(device))
    for inputs, targets in batches:
        loss = nn.functional.cross_entropy(model(inputs.to(device)), targets.to(device))
        loss.backward()
    return model


def main():
    batches = [(torch.ones(4, 3), torch.zeros(4, dtype=torch.long))]
    model = train(nn.Linear(3, 2), torch.device("cuda:1"), batches)
    assert model.module.weight.grad.device == torch.device("cuda:1")
