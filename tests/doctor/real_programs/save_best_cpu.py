# culprit: model | model[0].weight
# cause: model_moved_by_saving | model_not_moved
import io

import torch
from torch import nn


class EarlyStopping:
    def __init__(self, patience=3):
        self.best, self.patience, self.bad, self.buffer = float("inf"), patience, 0, None

    def __call__(self, val_loss, model):
        if val_loss < self.best:
            self.best, self.bad, self.buffer = val_loss, 0, io.BytesIO()
            torch.save(model.cpu().state_dict(), self.buffer)  # so that it loads anywhere
        else:
            self.bad += 1
        return self.bad >= self.patience


def run_epoch(model, x, y, optimizer=None):
    loss = nn.functional.mse_loss(model(x), y)
    if optimizer is not None:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    device = torch.device("cuda")
    model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    stopper = EarlyStopping()
    x, y = torch.randn(16, 6).to(device), torch.randn(16, 1).to(device)
    for epoch in range(5):
        run_epoch(model, x[:12], y[:12], optimizer)
        with torch.no_grad():
            val_loss = run_epoch(model, x[12:], y[12:])
        if stopper(val_loss, model):
            break
