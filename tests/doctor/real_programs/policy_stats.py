# culprit: stats["std"] | self.stats[key]["std"]
# cause: unregistered_tensor_attribute
import io
import torch
from torch import nn


def make_checkpoint(policy):
    stats = {
        "observation": {"mean": torch.randn(10), "std": torch.rand(10) + 0.5},
        "action": {"mean": torch.randn(4), "std": torch.rand(4) + 0.5},
    }
    buffer = io.BytesIO()
    torch.save({"policy": policy.state_dict(), "stats": stats}, buffer)
    buffer.seek(0)
    return buffer


class Normalizer:
    def __init__(self, stats):
        self.stats = stats

    def unnormalize(self, key, value):
        stats = self.stats[key]
        return value * stats["std"] + stats["mean"]


class ChunkPolicy(nn.Module):
    def __init__(self, obs_dim=10, act_dim=4, horizon=8):
        super().__init__()
        self.horizon, self.act_dim = horizon, act_dim
        self.net = nn.Sequential(nn.Linear(obs_dim, 64), nn.Mish(), nn.Linear(64, horizon * act_dim))

    def forward(self, obs):
        return self.net(obs).view(-1, self.horizon, self.act_dim)


def load_policy(file, device):
    ckpt = torch.load(file, map_location="cpu", weights_only=True)
    policy = ChunkPolicy()
    policy.load_state_dict(ckpt["policy"])
    return policy.to(device).eval(), Normalizer(ckpt["stats"])


@torch.inference_mode()
def main():
    device = "cuda"
    policy, normalizer = load_policy(make_checkpoint(ChunkPolicy()), device)
    obs = torch.randn(1, 10, device=device)
    chunk = policy(obs)
    actions = normalizer.unnormalize("action", chunk)
    return actions[0].cpu().numpy()
