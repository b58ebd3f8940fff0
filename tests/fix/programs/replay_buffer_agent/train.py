import random

import numpy as np
import torch
from agent import Agent, QNetwork
from replay_buffer import ReplayBuffer


def step(state, action, rng):
    push = 0.1 if action == 1 else -0.1
    state = state + np.array([state[1], push]) + rng.normal(0, 0.01, 2)
    return state, float(1 - abs(state[0])), bool(abs(state[0]) > 1)


torch.manual_seed(0)
random.seed(0)
rng = np.random.default_rng(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
local, target = QNetwork(2, 2).to(device), QNetwork(2, 2)
target.load_state_dict(local.state_dict())
agent = Agent(local, target, ReplayBuffer(500, 16, device))
for episode in range(8):
    state, score, loss = np.zeros(2), 0.0, 0.0
    for t in range(20):
        action = agent.act(state, eps=0.5 / (episode + 1))
        next_state, reward, done = step(state, action, rng)
        agent.memory.push(state, action, reward, next_state, done)
        state, score = next_state, score + reward
        if len(agent.memory) >= 16:
            loss = agent.learn()
        if done:
            break
    print(f"episode {episode} score {score:.3f} loss {loss:.5f}")
print("priorities", round(float(agent.memory.priorities.sum()), 3), "target", round(target.fc1.weight.norm().item(), 5))
