# culprit: torch.zeros(n_envs) | last_value | bootstrap_value(model, obs, done)
# cause: tensors_of_two_devices_joined | tensor_created_in_forward_without_device
import torch
from torch import nn


class ActorCritic(nn.Module):
    def __init__(self, obs_dim=6, actions=3):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(obs_dim, 32), nn.Tanh())
        self.pi = nn.Linear(32, actions)
        self.v = nn.Linear(32, 1)

    def forward(self, obs):
        h = self.trunk(obs)
        return torch.distributions.Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


def bootstrap_value(model, obs, done):
    n_envs = obs.shape[0]
    if done.all():
        return torch.zeros(n_envs)
    return model(obs)[1] * (~done)


def lambda_returns(rewards, values, gamma=0.99, lam=0.95):
    returns, running = [], values[-1]
    for t in reversed(range(len(rewards))):
        running = rewards[t] + gamma * ((1 - lam) * values[t + 1] + lam * running)
        returns.insert(0, running)
    return torch.stack(returns)


def main():
    device = torch.device("cuda")
    model = ActorCritic().to(device)
    opt = torch.optim.RMSprop(model.parameters(), lr=7e-4)
    horizon, n_envs = 5, 4
    obs = torch.randn(n_envs, 6, device=device)
    values, rewards = [], []
    for t in range(horizon):
        dist, value = model(obs)
        values.append(value)
        rewards.append(torch.rand(n_envs, device=device) + 0 * dist.sample())
        obs = torch.randn(n_envs, 6, device=device)
    done = torch.full((n_envs,), t == horizon - 1, device=device)
    last_value = bootstrap_value(model, obs, done)
    stacked = torch.stack(values + [last_value])
    returns = lambda_returns(torch.stack(rewards), stacked.detach())
    loss = (returns - stacked[:-1]).pow(2).mean()
    loss.backward()
    opt.step()
