# culprit: values | values[-1] | values[3] | torch.zeros(n_envs)
# cause: tensors_of_two_devices_joined | tensor_created_in_forward_without_device
import torch
from torch import nn


class ActorCritic(nn.Module):
    def __init__(self, obs=4, actions=2):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, 16), nn.Tanh())
        self.pi = nn.Linear(16, actions)
        self.v = nn.Linear(16, 1)

    def forward(self, obs):
        h = self.body(obs)
        return torch.distributions.Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


def rollout(net, n_envs, steps, device):
    obs, values, log_probs, rewards = torch.randn(n_envs, 4, device=device), [], [], []
    for _ in range(steps):
        dist, value = net(obs)
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        values.append(value)
        rewards.append(torch.rand(n_envs, device=device))
        obs = torch.randn(n_envs, 4, device=device)
    values.append(torch.zeros(n_envs))  # bootstrap: every env ended
    return torch.stack(rewards), torch.stack(values), torch.stack(log_probs)


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = ActorCritic().to(device)
    opt = torch.optim.RMSprop(net.parameters(), lr=7e-4)
    for _ in range(2):
        rewards, values, log_probs = rollout(net, 5, 3, device)
        adv = rewards + 0.99 * values[1:].detach() - values[:-1]
        loss = adv.pow(2).mean() - (adv.detach() * log_probs).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
