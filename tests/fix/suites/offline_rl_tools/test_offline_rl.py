import numpy as np
import torch
from offline_rl.buffer import PrioritizedBuffer
from offline_rl.normalizer import RunningNormalizer
from offline_rl.returns import gae, n_step_returns

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def filled(n=20):
    rng = np.random.default_rng(1)
    buffer = PrioritizedBuffer(32, 3, device=DEVICE)
    for i in range(n):
        buffer.add(rng.normal(size=3), float(i), priority=1 + i % 4)
    return buffer


def test_weighted_loss_and_new_priorities():
    buffer = filled()
    critic = torch.nn.Linear(3, 1).to(DEVICE)
    obs, rewards, weights, idx = buffer.sample(8)
    errors = critic(obs).squeeze(1) - rewards
    loss = (weights * errors.pow(2)).mean()
    loss.backward()
    buffer.update_priorities(idx, errors)
    assert loss.item() > 0
    assert np.isclose(buffer.priorities[idx[-1]], abs(errors[-1].item()) + 1e-3, atol=1e-4)


def test_normalizer_agrees_with_all_at_once():
    torch.manual_seed(0)
    x = 3 * torch.randn(50, 4, device=DEVICE) + 1
    normalizer = RunningNormalizer(4)
    for part in x.split(16):
        normalizer.update(part)
    assert normalizer.count == 50
    torch.testing.assert_close(normalizer.mean, x.mean(dim=0))
    torch.testing.assert_close(normalizer(x).std(dim=0, unbiased=False), torch.ones(4, device=DEVICE))


def test_n_step_returns():
    rewards = torch.tensor([[1.0, 0.0, 2.0, 0.0, 1.0]], device=DEVICE)
    values = torch.zeros(1, 6, device=DEVICE)
    values[0, 3:] = 10.0
    returns = n_step_returns(rewards, values)
    torch.testing.assert_close(returns.cpu(), torch.tensor([[1 + 1.62 + 7.29, 1.8 + 7.29, 2 + 0.81 + 7.29]]))


def test_gae_of_a_perfect_critic_is_zero():
    rewards = torch.ones(2, 4, device=DEVICE)
    values = torch.full((2, 5), 10.0, device=DEVICE)
    assert gae(rewards, values).abs().max().item() < 1e-5
