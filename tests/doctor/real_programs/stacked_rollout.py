# culprit: masks | self.masks
# cause: input_not_moved | tensors_of_two_devices_joined
import torch
from torch import nn


class Rollout:
    def __init__(self):
        self.rewards, self.masks, self.values = [], [], []

    def add(self, reward, mask, value):
        self.rewards.append(reward)
        self.masks.append(mask)
        self.values.append(value)

    def returns(self, gamma=0.9):
        rewards = torch.stack(self.rewards)
        masks = torch.stack(self.masks)
        values = torch.stack(self.values)
        total = values[-1]
        out = []
        for t in reversed(range(len(rewards))):
            total = rewards[t] + gamma * total * masks[t]
            out.append(total)
        return torch.stack(out[::-1]) - values


def main():
    critic = nn.Linear(3, 1).cuda()
    rollout = Rollout()
    for _ in range(4):
        value = critic(torch.randn(2, 3, device="cuda"))[:, 0]
        rollout.add(torch.rand(2), torch.ones(2), value)
    assert rollout.returns().is_cuda
