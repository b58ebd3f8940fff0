# culprit: generator | g | torch.Generator(device) | loader
# cause: generator_device
import random
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def seed_everything(seed, device):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    g = torch.Generator(device)
    g.manual_seed(seed)
    return g


def build_loader(generator, batch_size=4):
    x = torch.randn(16, 5)
    y = (x.sum(1) > 0).float()
    return DataLoader(TensorDataset(x, y), batch_size=batch_size, shuffle=True, generator=generator)


def main():
    device = torch.device("cuda")
    g = seed_everything(42, device)
    loader = build_loader(g)
    model = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1)).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    loss_fn = nn.BCEWithLogitsLoss()
    for epoch in range(2):
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            loss = loss_fn(model(x).squeeze(1), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
