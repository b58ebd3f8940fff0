import numpy as np
import torch
from learner import SineLearner
from maml import MAML


def validate(maml, tasks=5):
    before, after = [], []
    for _ in range(tasks):
        maml.learner.select_task()
        batch = maml.learner.get_batch()
        before.append(maml.learner.compute_loss(maml.params, batch).detach().numpy())
        after.append(maml.learner.compute_loss(maml.adapt(batch), batch).detach().numpy())
    return np.mean(before), np.mean(after)


if __name__ == "__main__":
    torch.manual_seed(5)
    maml = MAML(SineLearner(), "cuda:0" if torch.cuda.is_available() else "cpu")
    for step in range(1, 13):
        loss = maml.meta_step()
        if step % 4 == 0:
            print(f"meta step {step} loss {loss:.4f}")
    before, after = validate(maml)
    rates = torch.stack([v.detach().mean() for v in maml.inner_lr.values()])
    print(f"before {before:.4f} after {after:.4f} mean rate {rates.mean().item():.5f}")
