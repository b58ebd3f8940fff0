# culprit: self.optimizer | self.optimizer.state
# cause: optimizer_state_device
import io

import torch
from torch import nn


class Trainer:
    def __init__(self, model, lr=1e-3):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.epoch = 0

    def save(self, path):
        torch.save({"model": self.model.state_dict(), "optim": self.optimizer.state_dict(), "epoch": self.epoch}, path)

    def resume(self, path):
        ckpt = torch.load(path, map_location="cpu")
        self.model.load_state_dict(ckpt["model"])
        self.optimizer.load_state_dict(ckpt["optim"])
        self.epoch = ckpt["epoch"] + 1

    def fit(self, batches, device):
        self.model.to(device)
        for x, y in batches:
            loss = nn.functional.mse_loss(self.model(x.to(device)), y.to(device))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


def main():
    batches = [(torch.randn(4, 6), torch.randn(4, 1)) for _ in range(2)]
    checkpoint = io.BytesIO()
    first = Trainer(nn.Linear(6, 1))
    first.fit(batches, "cuda")
    first.save(checkpoint)
    checkpoint.seek(0)
    trainer = Trainer(nn.Linear(6, 1))
    trainer.resume(checkpoint)
    trainer.fit(batches, "cuda")
