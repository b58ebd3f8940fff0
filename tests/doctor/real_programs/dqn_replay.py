# culprit: action_batch
# cause: input_not_moved
import random
from collections import deque, namedtuple

import torch
from torch import nn

Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))


class ReplayMemory:
    def __init__(self, capacity):
        self.memory = deque(maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, k):
        return random.sample(self.memory, k)


def optimize_model(policy, target, memory, optimizer, device, gamma=0.99):
    batch = Transition(*zip(*memory.sample(8)))
    state_batch = torch.cat(batch.state).to(device)
    next_batch = torch.cat(batch.next_state).to(device)
    action_batch = torch.cat(batch.action)
    reward_batch = torch.cat(batch.reward).to(device)
    q = policy(state_batch).gather(1, action_batch)
    with torch.no_grad():
        expected = reward_batch + gamma * target(next_batch).max(1).values
    loss = nn.functional.smooth_l1_loss(q, expected.unsqueeze(1))
    loss.backward()
    optimizer.step()


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    policy, target = nn.Linear(4, 2).to(device), nn.Linear(4, 2).to(device)
    memory = ReplayMemory(100)
    for _ in range(16):
        memory.push(torch.randn(1, 4), torch.randint(0, 2, (1, 1)), torch.randn(1, 4), torch.rand(1))
    optimize_model(policy, target, memory, torch.optim.AdamW(policy.parameters()), device)
