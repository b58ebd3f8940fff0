# culprit: obs | mean
# cause: input_not_moved
import torch
from torch import nn


class Points:
    def __init__(self, count):
        self.device = "cpu"
        self.x = torch.zeros(count, 3)

    def get_observations(self):
        return self.x.clone()

    def step(self, actions):
        self.x = self.x + 0.1 * actions.to(self.device)
        return self.x.clone(), -self.x.norm(dim=1)


class Normalizer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("mean", torch.zeros(1, size))

    def forward(self, x):
        mean = x.mean(dim=0, keepdim=True)
        self.mean.add_(mean - self.mean, alpha=0.5)
        return x - self.mean


class Runner:
    def __init__(self, env, device):
        self.env, self.device = env, device
        self.normalizer = Normalizer(3).to(device)
        self.actor = nn.Linear(3, 3).to(device)

    def learn(self, steps):
        obs = self.env.get_observations()
        for _ in range(steps):
            actions = self.actor(self.normalizer(obs))
            obs, rewards = self.env.step(actions.detach())
        return rewards


def main():
    for device in ("cuda", "cpu"):
        env = Points(4)
        runner = Runner(env, device)
        runner.learn(3)
        assert env.x.device.type == "cpu"
        assert runner.normalizer.mean.device.type == device
