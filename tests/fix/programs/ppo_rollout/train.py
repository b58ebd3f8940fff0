import numpy as np
import torch
from policy import Policy
from storage import RolloutStorage

T, N = 8, 4


class PointEnv:
    def __init__(self):
        self.rng = np.random.default_rng(2)
        self.pos = self.rng.normal(size=(N, 2)).astype(np.float32)

    def step(self, action):
        self.pos[:, 0] += 0.3 * np.clip(action[:, 0], -1, 1)
        reward = -np.abs(self.pos[:, :1])
        done = np.abs(self.pos[:, 0]) > 2
        self.pos[done] = self.rng.normal(size=(int(done.sum()), 2))
        return torch.from_numpy(self.pos.copy()), torch.from_numpy(reward), torch.from_numpy(1.0 - done[:, None]).float()


torch.manual_seed(2)
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
env, policy, rollouts = PointEnv(), Policy(2), RolloutStorage(T, N, 2)
policy.to(device)
rollouts.obs[0].copy_(torch.from_numpy(env.pos))
rollouts.to(device)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for update in range(4):
    for step in range(T):
        with torch.no_grad():
            value, action, log_prob = policy.act(rollouts.obs[step])
        obs, reward, mask = env.step(action.numpy())
        rollouts.insert(obs, action, log_prob, value, reward, mask)
    with torch.no_grad():
        rollouts.compute_returns(policy.act(rollouts.obs[-1])[0])
    adv = (rollouts.returns - rollouts.value_preds)[:-1].flatten(0, 1)
    for _ in range(2):
        values, log_probs, entropy = policy.evaluate(rollouts.obs[:-1].flatten(0, 1), rollouts.actions.flatten(0, 1))
        ratio = (log_probs - rollouts.log_probs.flatten(0, 1)).exp()
        loss = -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()
        loss = loss + 0.5 * (rollouts.returns[:-1].flatten(0, 1) - values).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    rollouts.obs[0].copy_(rollouts.obs[-1])
    print(f"update {update} reward {rollouts.rewards.mean().item():.4f} loss {loss.item():.4f} entropy {entropy.item():.4f}")
