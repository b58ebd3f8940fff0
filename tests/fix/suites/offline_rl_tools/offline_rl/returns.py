import torch


def n_step_returns(rewards, values, gamma=0.9, n=3):
    """For each time the discounted sum of n rewards and the value that follows; time is the last dimension."""
    discounts = gamma ** torch.arange(n).float()
    windows = rewards.unfold(-1, n, 1)
    return (windows * discounts).sum(-1) + gamma**n * values[..., n:]


def gae(rewards, values, gamma=0.9, lam=0.8):
    advantages, running = torch.zeros_like(rewards), 0.0
    for t in reversed(range(rewards.size(-1))):
        delta = rewards[..., t] + gamma * values[..., t + 1] - values[..., t]
        running = delta + gamma * lam * running
        advantages[..., t] = running
    return advantages
