# culprit: self.discriminator.weight
# cause: model_not_moved
import torch
from torch import nn


class Gan:
    def __init__(self, device):
        self.device = device
        self.generator = nn.Linear(2, 3).to(device)
        self.discriminator = nn.Linear(3, 1)
        self.optimizer = torch.optim.SGD(self.discriminator.parameters(), lr=0.1)

    def step(self, noise):
        return self.discriminator(self.generator(noise)).mean()

    def fit(self, steps):
        for _ in range(steps):
            loss = self.step(torch.ones(4, 2, device=self.device))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


def main():
    for device in ("cuda", "cpu"):
        gan = Gan(device)
        before = gan.discriminator.bias.item()
        gan.fit(2)
        assert gan.discriminator.bias.item() != before
