from dataclasses import dataclass, field

import numpy as np
import torch
from losses import PinballLoss
from model import StatefulLSTM


@dataclass
class Args:
    device: torch.device = field(default_factory=lambda: torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    window: int = 20
    epochs: int = 3
    lr: float = 0.02


class Experiment:
    def __init__(self, args):
        self.args = args
        t = np.arange(400, dtype=np.float32)
        series = 50 + 10 * np.sin(t / 6) + np.random.default_rng(4).normal(0, 1, 400).astype(np.float32)
        self.mean, self.std = series.mean(), series.std()
        self.series = ((series - self.mean) / self.std).reshape(4, 100, 1).astype(np.float32)
        self.model = StatefulLSTM().to(args.device)
        self.criterion = PinballLoss([0.1, 0.5, 0.9])
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=args.lr)

    def train(self):
        data = torch.from_numpy(self.series).to(self.args.device)
        for epoch in range(self.args.epochs):
            self.model.reset(data.size(0))
            losses = []
            for i in range(0, 79, self.args.window):
                x, y = data[:, i : i + self.args.window], data[:, i + 1 : i + self.args.window + 1]
                loss = self.criterion(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                losses.append(loss.item())
            print(f"epoch {epoch} pinball {np.mean(losses):.5f}")

    @torch.no_grad()
    def forecast(self, steps=5):
        self.model.eval()
        window = torch.from_numpy(self.series[:1, -20:])
        self.model.reset(1)
        result = []
        for _ in range(steps):
            median = self.model(window)[:, -1:, 1:2]
            result.append(median.numpy() * self.std + self.mean)
            window = median
        return np.concatenate(result).ravel()


if __name__ == "__main__":
    torch.manual_seed(4)
    experiment = Experiment(Args())
    experiment.train()
    print("forecast", [round(float(v), 2) for v in experiment.forecast()])
