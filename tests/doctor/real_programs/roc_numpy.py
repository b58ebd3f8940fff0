# culprit: torch.cat(scores) | scores
# cause: numpy_conversion
import numpy as np
import torch
from torch import nn


def roc_auc(y_true, y_score):
    order = np.argsort(y_score)
    ranks = np.empty(len(y_score))
    ranks[order] = np.arange(1, len(y_score) + 1)
    pos = y_true == 1
    n_pos, n_neg = pos.sum(), (~pos).sum()
    return (ranks[pos].sum() - n_pos * (n_pos + 1) / 2) / max(n_pos * n_neg, 1)


@torch.inference_mode()
def validate(model, loader, args):
    model.eval()
    scores, targets = [], []
    for batch in loader:
        logits = model(batch["x"].to(args.device))
        scores.append(torch.sigmoid(logits).squeeze(1))
        targets.append(batch["y"])
    y_score = torch.cat(scores).numpy()
    y_true = torch.cat(targets).numpy()
    return {"auc": roc_auc(y_true, y_score), "pos_rate": y_true.mean()}


class Args:
    device = "cuda"
    batch_size = 4


def main():
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1)).to(Args.device)
    loader = [{"x": torch.randn(Args.batch_size, 6), "y": torch.randint(0, 2, (Args.batch_size,))} for _ in range(3)]
    return validate(model, loader, Args)
