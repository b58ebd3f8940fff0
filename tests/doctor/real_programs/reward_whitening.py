# culprit: position_weights
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn


def masked_mean(values, mask):
    return (values * mask).sum() / mask.sum()


def discounted_rewards(rewards, mask, gamma=0.99):
    horizon = rewards.size(1)
    position_weights = gamma ** torch.arange(horizon - 1, -1, -1, dtype=torch.float32)
    shaped = rewards * position_weights
    mean = masked_mean(shaped, mask)
    return (shaped - mean) * mask


class RewardModel(nn.Module):
    def __init__(self, vocab=64, dim=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.score = nn.Linear(dim, 1)

    def forward(self, input_ids):
        return self.score(self.embed(input_ids)).squeeze(-1)


def rollout(device):
    ids = torch.randint(0, 64, (4, 12), device=device)
    mask = (ids != 0).float()
    return ids, mask


def main():
    device = torch.device("cuda", 0)
    reward_model = RewardModel().to(device).eval()
    ids, mask = rollout(device)
    with torch.no_grad():
        per_token = reward_model(ids)
    advantages = discounted_rewards(per_token, mask)
    return advantages.mean().item()
