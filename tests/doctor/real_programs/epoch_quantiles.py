# culprit: errors | self.errors | value
# cause: numpy_conversion
from collections import defaultdict
import numpy as np
import torch
from torch import nn


class QuantileReport:
    def __init__(self, levels=(0.5, 0.9, 0.99)):
        self.levels = levels
        self.errors = defaultdict(list)

    def add(self, horizon, value):
        self.errors[horizon].append(value)

    def table(self):
        rows = {}
        for horizon, errors in self.errors.items():
            rows[horizon] = np.quantile(errors, self.levels).round(4)
        return rows


class MotionPredictor(nn.Module):
    def __init__(self, joints=5, past=8, hidden=32):
        super().__init__()
        self.gru = nn.GRU(joints * 3, hidden, batch_first=True)
        self.out = nn.Linear(hidden, joints * 3)

    def forward(self, poses, steps):
        _, h = self.gru(poses)
        frames, last = [], poses[:, -1]
        for _ in range(steps):
            last = last + self.out(h[-1])
            _, h = self.gru(last.unsqueeze(1), h)
            frames.append(last)
        return torch.stack(frames, 1)


def mpjpe(pred, truth):
    diff = (pred - truth).unflatten(-1, (-1, 3))
    return diff.norm(dim=-1).mean()


@torch.no_grad()
def main():
    device = torch.device("cuda")
    model = MotionPredictor().to(device).eval()
    report = QuantileReport()
    for _ in range(4):
        clip = torch.randn(6, 14, 15, device=device)
        pred = model(clip[:, :8], steps=6)
        for horizon in (2, 6):
            report.add(horizon, mpjpe(pred[:, :horizon], clip[:, 8:8 + horizon]))
    return report.table()
