import random

import torch
import torch.nn as nn
import torch.nn.functional as F


class QNetwork(nn.Module):
    def __init__(self, state_size, action_size):
        super().__init__()
        self.fc1 = nn.Linear(state_size, 24)
        self.fc2 = nn.Linear(24, action_size)

    def forward(self, state):
        return self.fc2(F.relu(self.fc1(state)))


class Agent:
    def __init__(self, qnetwork_local, qnetwork_target, memory, gamma=0.95, tau=0.05):
        self.local, self.target = qnetwork_local, qnetwork_target
        self.memory, self.gamma, self.tau = memory, gamma, tau
        self.optimizer = torch.optim.Adam(self.local.parameters(), lr=5e-3)
        self.device = memory.device

    def act(self, state, eps):
        if random.random() < eps:
            return random.randrange(2)
        state = torch.from_numpy(state).float().unsqueeze(0)
        with torch.no_grad():
            return self.local(state).argmax(dim=1).item()

    def learn(self):
        states, actions, rewards, next_states, dones = self.memory.sample()
        with torch.no_grad():
            q_next = self.target(next_states).max(1, keepdim=True)[0]
        targets = rewards + self.gamma * q_next * (1 - dones)
        expected = self.local(states).gather(1, actions)
        loss = F.smooth_l1_loss(expected, targets)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        for t, p in zip(self.target.parameters(), self.local.parameters()):
            t.data.copy_(self.tau * p.data + (1.0 - self.tau) * t.data)
        self.memory.update_priorities((targets - expected).detach())
        return loss.item()
