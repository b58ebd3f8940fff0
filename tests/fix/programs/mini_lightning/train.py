import torch
from engine.core import Engine
from lit_model import LitCounter
from torch.utils.data import DataLoader, TensorDataset


def bits(n, length=6):
    x = (torch.rand(n, length, 1) > 0.5).float()
    return TensorDataset(x, x.sum(dim=(1, 2)) / length)


if __name__ == "__main__":
    torch.manual_seed(77)
    train_loader = DataLoader(bits(128), batch_size=16, shuffle=True)
    val_loader = DataLoader(bits(40), batch_size=16)
    Engine(max_epochs=3).fit(LitCounter(), train_loader, val_loader)
