# culprit: self.returns
# cause: metric_or_accumulator_state
import torch
from torch import nn


class RewardScaler:
    def __init__(self, num_envs, gamma=0.99, device="cpu"):
        self.gamma = gamma
        self.device = torch.device(device)
        self.returns = torch.zeros(num_envs)
        self.count = torch.zeros(num_envs)
        self.mean = torch.zeros(num_envs)
        self.var = torch.ones(num_envs)

    def __call__(self, rewards, dones):
        self.returns = self.returns * self.gamma + rewards
        self.count = self.count + 1
        delta = self.returns - self.mean
        self.mean = self.mean + delta / self.count
        self.var = self.var + delta * (self.returns - self.mean)
        self.returns = self.returns * (~dones)
        return rewards / (self.var / self.count + 1e-8).sqrt()


def main():
    device = torch.device("cuda")
    scaler = RewardScaler(4, device="cuda")
    for _ in range(3):
        out = scaler(torch.rand(4, device=device), torch.zeros(4, dtype=torch.bool, device=device))
    assert out.is_cuda and scaler.count[0] == 3
