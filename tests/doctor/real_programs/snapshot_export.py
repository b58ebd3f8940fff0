# culprit: self.model | model | self.trend | self.trend.weight
# cause: model_moved_by_saving
import io
import torch
from torch import nn


class Forecaster(nn.Module):
    def __init__(self, channels=3, context=24, horizon=6):
        super().__init__()
        self.context, self.horizon = context, horizon
        self.trend = nn.Linear(context, horizon)
        self.season = nn.Linear(context, horizon)

    def forward(self, x):
        x = x.transpose(1, 2)
        smooth = nn.functional.avg_pool1d(x, 5, 1, 2, count_include_pad=False)
        return (self.trend(smooth) + self.season(x - smooth)).transpose(1, 2)


class SnapshotCallback:
    def __init__(self, every=1):
        self.every, self.snapshots = every, []

    def on_epoch_end(self, epoch, model):
        if epoch % self.every == 0:
            buffer = io.BytesIO()
            torch.save(model.cpu().state_dict(), buffer)
            self.snapshots.append(buffer.getvalue())


class Experiment:
    def __init__(self, device):
        self.device = device
        self.model = Forecaster().to(device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)
        self.callbacks = [SnapshotCallback()]

    def step(self, window, future):
        loss = nn.functional.l1_loss(self.model(window), future)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def run(self, epochs):
        for epoch in range(epochs):
            for _ in range(2):
                series = torch.randn(4, 30, 3).cumsum(1).to(self.device)
                self.step(series[:, :24], series[:, 24:])
            for callback in self.callbacks:
                callback.on_epoch_end(epoch, self.model)


def main():
    Experiment(torch.device("cuda")).run(epochs=3)
