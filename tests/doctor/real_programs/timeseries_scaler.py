# culprit: self.mean
# cause: unregistered_tensor_attribute
import torch
from torch import nn


class StandardScaler:
    def fit(self, series):
        self.mean = series.mean(dim=0)
        self.std = series.std(dim=0).clamp_min(1e-6)
        return self

    def transform(self, x):
        return (x - self.mean) / self.std

    def inverse_transform(self, x):
        return x * self.std + self.mean


class Forecaster(nn.Module):
    def __init__(self, scaler, channels=3, context=24, horizon=6):
        super().__init__()
        self.scaler = scaler
        self.trend = nn.Linear(context, horizon)
        self.mix = nn.Linear(channels, channels)

    def forward(self, x):
        y = self.trend(x.transpose(1, 2)).transpose(1, 2)
        return self.mix(y)

    def predict(self, x):
        return self.scaler.inverse_transform(self(self.scaler.transform(x)))


def windows(series, context=24, horizon=6):
    chunks = series.unfold(0, context + horizon, 5).transpose(1, 2)
    return chunks[:, :context], chunks[:, context:]


def main():
    history = torch.randn(120, 3).cumsum(0)
    scaler = StandardScaler().fit(history[:90])
    past, future = windows(scaler.transform(history))
    model = Forecaster(scaler).to("cuda:0")
    loss = (model(past.to("cuda:0")) - future.to("cuda:0")).abs().mean()
    loss.backward()
    return model.predict(history[-24:][None].to("cuda:0"))
