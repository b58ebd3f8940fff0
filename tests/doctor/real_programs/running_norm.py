# culprit: self.mean
# cause: metric_or_accumulator_state
import torch
from torch import nn


class RunningMeanStd:
    """Welford's parallel update."""

    def __init__(self, shape, epsilon=1e-4):
        self.mean = torch.zeros(shape)
        self.var = torch.ones(shape)
        self.count = epsilon

    def update(self, x):
        batch_mean, batch_var, n = x.mean(0), x.var(0, unbiased=False), x.shape[0]
        delta = batch_mean - self.mean
        total = self.count + n
        m2 = self.var * self.count + batch_var * n + delta**2 * self.count * n / total
        self.mean = self.mean + delta * n / total
        self.var, self.count = m2 / total, total

    def normalize(self, x):
        return (x - self.mean) / torch.sqrt(self.var + 1e-8)


class Agent:
    def __init__(self, cfg):
        self.device = torch.device(cfg["device"])
        self.obs_rms = RunningMeanStd((cfg["obs_dim"],))
        self.actor = nn.Sequential(nn.Linear(cfg["obs_dim"], 32), nn.Tanh(), nn.Linear(32, 2)).to(self.device)

    def act(self, obs):
        obs = torch.as_tensor(obs, device=self.device)
        self.obs_rms.update(obs)
        return self.actor(self.obs_rms.normalize(obs)).argmax(-1)


def main():
    agent = Agent({"device": "cuda", "obs_dim": 5})
    return [agent.act(torch.randn(8, 5).numpy()) for _ in range(3)]
