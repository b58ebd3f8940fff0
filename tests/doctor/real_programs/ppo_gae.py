# culprit: nonterminal | dones[t] | dones | rewards[t] | rewards
# cause: input_not_moved | tensor_created_in_forward_without_device | tensors_of_two_devices_joined | metric_or_accumulator_state
import numpy as np
import torch
from torch import nn


class VecEnv:
    def reset(self):
        return np.random.randn(4, 3).astype(np.float32)

    def step(self, action):
        return self.reset(), np.ones(4, np.float32), np.zeros(4, np.float32)


@torch.no_grad()
def rollout(env, actor, critic, device, steps=5):
    obs, rewards, dones, values = torch.from_numpy(env.reset()).to(device), [], [], []
    for _ in range(steps):
        action = actor(obs).argmax(-1)
        values.append(critic(obs).squeeze(-1))
        next_obs, reward, done = env.step(action.cpu().numpy())
        rewards.append(torch.from_numpy(reward))
        dones.append(torch.from_numpy(done))
        obs = torch.from_numpy(next_obs).to(device)
    return obs, torch.stack(rewards), torch.stack(dones), torch.stack(values)


def compute_gae(rewards, dones, values, next_value, gamma=0.99, lam=0.95):
    advantages, last = torch.zeros_like(values), 0
    for t in reversed(range(len(rewards))):
        nonterminal = 1.0 - dones[t]
        delta = rewards[t] + gamma * next_value * nonterminal - values[t]
        advantages[t] = last = delta + gamma * lam * nonterminal * last
        next_value = values[t]
    return advantages, advantages + values


def main():
    device, actor, critic = "cuda", nn.Linear(3, 2).cuda(), nn.Linear(3, 1).cuda()
    obs, *buffer = rollout(VecEnv(), actor, critic, device)
    return compute_gae(*buffer, critic(obs).squeeze(-1).detach())
