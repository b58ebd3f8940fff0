import torch
import torch.nn as nn
from torch.distributions import Normal


class Policy(nn.Module):
    def __init__(self, obs_dim, hidden=16):
        super().__init__()
        self.base = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh())
        self.mean, self.value = nn.Linear(hidden, 1), nn.Linear(hidden, 1)
        self.logstd = torch.full((1,), -0.5)

    def dist(self, obs):
        h = self.base(obs)
        return Normal(self.mean(h), self.logstd.exp().expand(obs.size(0), 1)), self.value(h)

    def act(self, obs):
        dist, value = self.dist(obs)
        action = dist.sample()
        return value, action, dist.log_prob(action)

    def evaluate(self, obs, action):
        dist, value = self.dist(obs)
        return value, dist.log_prob(action), dist.entropy().mean()
