import numpy as np
import torch


class PrioritizedBuffer:
    def __init__(self, capacity, obs_dim, device="cpu", seed=0):
        self.device = torch.device(device)
        self.obs = np.zeros((capacity, obs_dim), dtype=np.float32)
        self.rewards = np.zeros(capacity, dtype=np.float32)
        self.priorities = np.zeros(capacity, dtype=np.float32)
        self.rng = np.random.default_rng(seed)
        self.size = 0

    def add(self, obs, reward, priority=1.0):
        self.obs[self.size], self.rewards[self.size], self.priorities[self.size] = obs, reward, priority
        self.size += 1

    def to_torch(self, array):
        return torch.as_tensor(array, device=self.device)

    def sample(self, batch_size, beta=0.5):
        probs = self.priorities[: self.size] / self.priorities[: self.size].sum()
        idx = self.rng.choice(self.size, batch_size, p=probs)
        weights = (self.size * probs[idx]) ** -beta
        weights = torch.from_numpy((weights / weights.max()).astype(np.float32))
        return self.to_torch(self.obs[idx]), self.to_torch(self.rewards[idx]), weights, idx

    def update_priorities(self, idx, errors):
        self.priorities[idx] = errors.abs().detach().cpu().numpy() + 1e-3
