# culprit: self.alpha | self.log_alpha
# cause: tensor_created_in_forward_without_device | metric_or_accumulator_state
import torch
from torch import nn
from torch.distributions import Normal


class Actor(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.mu, self.log_std = nn.Linear(obs_dim, act_dim), nn.Linear(obs_dim, act_dim)

    def sample(self, obs):
        dist = Normal(self.mu(obs), self.log_std(obs).clamp(-5, 2).exp())
        u = dist.rsample()
        log_prob = dist.log_prob(u) - torch.log(1 - u.tanh() ** 2 + 1e-6)
        return u.tanh(), log_prob.sum(-1)


class SAC:
    def __init__(self, obs_dim, act_dim, device="cuda"):
        self.device = device
        self.actor = Actor(obs_dim, act_dim).to(device)
        self.critic = nn.Linear(obs_dim + act_dim, 1).to(device)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.alpha_opt = torch.optim.Adam([self.log_alpha], lr=3e-4)
        self.target_entropy = -act_dim

    @property
    def alpha(self):
        return self.log_alpha.exp()

    def actor_loss(self, obs):
        action, log_prob = self.actor.sample(obs)
        q = self.critic(torch.cat([obs, action], -1)).squeeze(-1)
        return (self.alpha.detach() * log_prob - q).mean()


def main():
    agent = SAC(obs_dim=6, act_dim=2)
    agent.actor_loss(torch.randn(16, 6, device=agent.device)).backward()
