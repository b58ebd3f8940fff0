import torch


class RolloutStorage:
    def __init__(self, num_steps, num_processes, obs_dim):
        self.obs = torch.zeros(num_steps + 1, num_processes, obs_dim)
        self.actions = torch.zeros(num_steps, num_processes, 1)
        self.log_probs = torch.zeros(num_steps, num_processes, 1)
        self.value_preds = torch.zeros(num_steps + 1, num_processes, 1)
        self.returns = torch.zeros(num_steps + 1, num_processes, 1)
        self.rewards = torch.zeros(num_steps, num_processes, 1)
        self.masks = torch.ones(num_steps + 1, num_processes, 1)
        self.num_steps = num_steps
        self.step = 0

    def to(self, device):
        self.obs = self.obs.to(device)
        self.actions = self.actions.to(device)
        self.log_probs = self.log_probs.to(device)
        self.value_preds = self.value_preds.to(device)
        self.returns = self.returns.to(device)

    def insert(self, obs, action, log_prob, value, reward, mask):
        self.obs[self.step + 1].copy_(obs)
        self.actions[self.step].copy_(action)
        self.log_probs[self.step].copy_(log_prob)
        self.value_preds[self.step].copy_(value)
        self.rewards[self.step].copy_(reward)
        self.masks[self.step + 1].copy_(mask)
        self.step = (self.step + 1) % self.num_steps

    def compute_returns(self, next_value, gamma=0.95, lam=0.9):
        self.value_preds[-1] = next_value
        gae = 0
        for t in reversed(range(self.num_steps)):
            next_v = self.value_preds[t + 1] * self.masks[t + 1]
            delta = self.rewards[t] + gamma * next_v - self.value_preds[t]
            gae = delta + gamma * lam * self.masks[t + 1] * gae
            self.returns[t] = gae + self.value_preds[t]
