# culprit: weights
# cause: input_not_moved | tensor_created_in_forward_without_device
from typing import NamedTuple
import numpy as np
import torch
from torch import nn


class Transition(NamedTuple):
    obs: torch.Tensor
    action: torch.Tensor
    reward: torch.Tensor
    next_obs: torch.Tensor

    def to(self, device):
        return Transition(*(field.to(device) for field in self))


class PrioritizedBuffer:
    def __init__(self, size=256, obs_dim=4):
        self.obs = np.random.randn(size, obs_dim).astype(np.float32)
        self.next_obs = np.random.randn(size, obs_dim).astype(np.float32)
        self.action = np.random.randint(0, 2, size)
        self.reward = np.random.rand(size).astype(np.float32)
        self.priority = np.random.rand(size) + 0.1

    def sample(self, n, beta=0.4):
        p = self.priority / self.priority.sum()
        idx = np.random.choice(len(p), n, p=p)
        weights = (len(p) * p[idx]) ** -beta
        weights = torch.as_tensor(weights / weights.max(), dtype=torch.float32)
        batch = Transition(*(torch.from_numpy(a[idx]) for a in (self.obs, self.action, self.reward, self.next_obs)))
        return batch, weights, idx


def td_error(q, target, batch, gamma=0.99):
    q_sa = q(batch.obs).gather(1, batch.action[:, None]).squeeze(1)
    with torch.no_grad():
        backup = batch.reward + gamma * target(batch.next_obs).max(1).values
    return q_sa - backup


def main():
    device = torch.device("cuda")
    q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2)).to(device)
    target = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2)).to(device)
    target.load_state_dict(q.state_dict())
    buffer = PrioritizedBuffer()
    batch, weights, idx = buffer.sample(32)
    delta = td_error(q, target, batch.to(device))
    loss = (weights * delta.pow(2)).mean()
    loss.backward()
    buffer.priority[idx] = delta.detach().abs().cpu().numpy() + 1e-3
