import random
from collections import deque, namedtuple

import numpy as np
import torch

Transition = namedtuple("Transition", "state action reward next_state done")


class ReplayBuffer:
    def __init__(self, capacity, batch_size, device):
        self.memory = deque(maxlen=capacity)
        self.priorities = np.ones(capacity, dtype=np.float32)
        self.batch_size = batch_size
        self.device = device

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self):
        self.idxes = random.sample(range(len(self.memory)), k=self.batch_size)
        batch = Transition(*zip(*(self.memory[i] for i in self.idxes)))
        states = torch.from_numpy(np.stack(batch.state)).float().to(self.device)
        actions = torch.tensor(batch.action).unsqueeze(1)
        rewards = torch.tensor(batch.reward).unsqueeze(1).to(self.device)
        next_states = torch.from_numpy(np.stack(batch.next_state)).float().to(self.device)
        dones = torch.tensor(batch.done, dtype=torch.float32).unsqueeze(1)
        return states, actions, rewards, next_states, dones

    def update_priorities(self, td_errors):
        self.priorities[self.idxes] = td_errors.abs().squeeze(1).numpy() + 1e-3

    def __len__(self):
        return len(self.memory)
