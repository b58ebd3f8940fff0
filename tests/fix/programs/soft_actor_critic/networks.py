import torch
import torch.nn as nn
from torch.distributions import Normal


class QNetwork(nn.Module):
    def __init__(self, obs, act, hidden=24):
        super().__init__()
        self.q1 = nn.Sequential(nn.Linear(obs + act, hidden), nn.ReLU(), nn.Linear(hidden, 1))
        self.q2 = nn.Sequential(nn.Linear(obs + act, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, state, action):
        xu = torch.cat([state, action], 1)
        return self.q1(xu), self.q2(xu)


class GaussianPolicy(nn.Module):
    def __init__(self, obs, low, high, hidden=24):
        super().__init__()
        self.linear = nn.Linear(obs, hidden)
        self.mean, self.log_std = nn.Linear(hidden, len(low)), nn.Linear(hidden, len(low))
        self.action_scale = (torch.tensor(high) - torch.tensor(low)) / 2.0
        self.action_bias = (torch.tensor(high) + torch.tensor(low)) / 2.0

    def sample(self, state):
        x = torch.relu(self.linear(state))
        mean, std = self.mean(x), self.log_std(x).clamp(-5, 1).exp()
        normal = Normal(mean, std)
        y_t = torch.tanh(normal.rsample())
        action = y_t * self.action_scale + self.action_bias
        log_prob = normal.log_prob(torch.atanh(y_t.clamp(-0.999, 0.999))) - torch.log(self.action_scale * (1 - y_t.pow(2)) + 1e-4)
        return action, log_prob.sum(1, keepdim=True), torch.tanh(mean) * self.action_scale + self.action_bias
