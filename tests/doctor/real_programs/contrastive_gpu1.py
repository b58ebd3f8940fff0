# culprit: diagonal
# cause: hardcoded_cuda | split_model_activation_not_moved | wrong_default_index
import torch
from torch import nn


def contrastive(z, temperature=0.1):
    n = z.shape[0] // 2
    sim = z @ z.T / temperature
    diagonal = torch.eye(2 * n, dtype=torch.bool, device="cuda:0")
    sim = sim.masked_fill(diagonal, -1e9)
    targets = torch.arange(2 * n, device="cuda:0").roll(n)
    return nn.functional.cross_entropy(sim, targets)


def main():
    z = torch.randn(8, 4, device="cuda:1", requires_grad=True)
    loss = contrastive(z)
    loss.backward()
    assert str(loss.device) == "cuda:1"
