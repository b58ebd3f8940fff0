import numpy as np
import torch
import torch.nn.functional as F


class SineLearner:
    def __init__(self, batch_size=8):
        self.batch_size = batch_size
        self.rng = np.random.RandomState(5)

    def parameters(self):
        w1 = torch.randn(1, 20)
        w2 = 0.2 * torch.randn(20, 20)
        w3 = 0.2 * torch.randn(20, 1)
        return [w1, torch.zeros(20), w2, torch.zeros(20), w3, torch.zeros(1)]

    def select_task(self):
        self.amplitude = 5.0 * self.rng.random_sample()
        self.phase = np.pi * self.rng.random_sample()

    def get_batch(self):
        x = self.rng.uniform(-5.0, 5.0, (self.batch_size, 1))
        y = self.amplitude * np.sin(x + self.phase)
        return torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)

    def compute_loss(self, params, batch):
        w1, b1, w2, b2, w3, b3 = params
        x, y = batch
        h = torch.tanh(x @ w1 + b1)
        return F.mse_loss(torch.tanh(h @ w2 + b2) @ w3 + b3, y)
