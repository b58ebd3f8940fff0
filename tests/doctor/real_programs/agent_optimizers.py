# culprit: self.critic_opt | self.critic_opt.state
# cause: optimizer_state_device
import torch
from torch import nn


class Agent:
    def __init__(self):
        self.actor = nn.Linear(4, 2)
        self.critic = nn.Linear(4, 1)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def to(self, device):
        self.actor.to(device)
        self.critic.to(device)
        return self

    def update(self, obs):
        value_loss = self.critic(obs).pow(2).mean()
        self.critic_opt.zero_grad()
        value_loss.backward()
        self.critic_opt.step()
        policy_loss = -self.critic(obs).detach().mean() * self.actor(obs).mean()
        self.actor_opt.zero_grad()
        policy_loss.backward()
        self.actor_opt.step()
        return policy_loss


def main():
    agent = Agent()
    agent.update(torch.randn(3, 4))
    agent.to("cuda")
    loss = agent.update(torch.randn(3, 4, device="cuda"))
    assert loss.is_cuda
    assert all(t.is_cuda for o in (agent.actor_opt, agent.critic_opt) for s in o.state.values() for k, t in s.items() if k != "step")
