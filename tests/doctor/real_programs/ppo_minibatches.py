# culprit: self.returns
# cause: index_on_wrong_device | tensor_created_in_forward_without_device
from typing import NamedTuple
import torch
from torch import nn


class Minibatch(NamedTuple):
    obs: torch.Tensor
    actions: torch.Tensor
    log_probs: torch.Tensor
    returns: torch.Tensor


class Rollout:
    def __init__(self, steps, obs_dim, device):
        self.obs = torch.zeros(steps, obs_dim, device=device)
        self.actions = torch.zeros(steps, dtype=torch.long, device=device)
        self.log_probs = torch.zeros(steps, device=device)
        self.rewards = [0.0] * steps
        self.returns = None

    def finish(self, last_value, gamma=0.99):
        self.returns = torch.empty(len(self.rewards))
        running = float(last_value)
        for t in reversed(range(len(self.rewards))):
            running = self.rewards[t] + gamma * running
            self.returns[t] = running

    def minibatches(self, size, epochs):
        for _ in range(epochs):
            for idx in torch.randperm(len(self.obs), device=self.obs.device).split(size):
                yield Minibatch(self.obs[idx], self.actions[idx], self.log_probs[idx], self.returns[idx])


class Policy(nn.Module):
    def __init__(self, obs_dim=5, actions=3):
        super().__init__()
        self.pi, self.v = nn.Linear(obs_dim, actions), nn.Linear(obs_dim, 1)

    def forward(self, obs):
        return torch.distributions.Categorical(logits=self.pi(obs)), self.v(obs).squeeze(-1)


def main():
    device = torch.device("cuda")
    policy = Policy().to(device)
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)
    rollout = Rollout(32, 5, device)
    with torch.no_grad():
        for t in range(32):
            obs = torch.randn(5, device=device)
            dist, value = policy(obs)
            action = dist.sample()
            rollout.obs[t], rollout.actions[t], rollout.log_probs[t] = obs, action, dist.log_prob(action)
            rollout.rewards[t] = float(obs.sum() > 0)
        rollout.finish(value)
    for mb in rollout.minibatches(8, epochs=2):
        dist, value = policy(mb.obs)
        ratio = (dist.log_prob(mb.actions) - mb.log_probs).exp()
        loss = -(ratio * (mb.returns - value.detach())).mean() + (mb.returns - value).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
