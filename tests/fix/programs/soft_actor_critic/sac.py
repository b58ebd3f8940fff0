import copy

import torch
import torch.nn.functional as F
from networks import GaussianPolicy, QNetwork


class SAC:
    def __init__(self, obs, low, high, device, gamma=0.9, tau=0.1, lr=5e-3):
        self.device, self.gamma, self.tau = device, gamma, tau
        self.critic = QNetwork(obs, len(low))
        self.critic_target = copy.deepcopy(self.critic)
        self.critic.to(device)
        self.policy = GaussianPolicy(obs, low, high).to(device)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.reward_scale = torch.tensor([0.5])
        self.target_entropy = -float(len(low))
        self.critic_optim = torch.optim.Adam(self.critic.parameters(), lr=lr)
        self.policy_optim = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.alpha_optim = torch.optim.Adam([self.log_alpha], lr=lr)

    def update(self, batch):
        state, action, reward, next_state = (t.to(self.device) for t in batch)
        with torch.no_grad():
            next_action, next_log_pi, _ = self.policy.sample(next_state)
            q_next = torch.min(*self.critic_target(next_state, next_action)) - self.log_alpha.exp() * next_log_pi
            target = reward * self.reward_scale + self.gamma * q_next
        q1, q2 = self.critic(state, action)
        qf_loss = F.mse_loss(q1, target) + F.mse_loss(q2, target)
        self.critic_optim.zero_grad()
        qf_loss.backward()
        self.critic_optim.step()

        pi, log_pi, _ = self.policy.sample(state)
        policy_loss = (self.log_alpha.exp().detach() * log_pi - torch.min(*self.critic(state, pi))).mean()
        self.policy_optim.zero_grad()
        policy_loss.backward()
        self.policy_optim.step()

        alpha_loss = -(self.log_alpha * (log_pi + self.target_entropy).detach()).mean()
        self.alpha_optim.zero_grad()
        alpha_loss.backward()
        self.alpha_optim.step()
        for t, s in zip(self.critic_target.parameters(), self.critic.parameters()):
            t.data.copy_(t.data * (1.0 - self.tau) + s.data * self.tau)
        return qf_loss.item(), policy_loss.item()
