import torch


def auc(scores, labels, bins=20):
    thresholds = torch.linspace(0, 1, bins)
    above = scores[None, :] >= thresholds[:, None]
    tpr = (above & (labels == 1)).sum(1) / (labels == 1).sum()
    fpr = (above & (labels == 0)).sum(1) / (labels == 0).sum()
    return torch.trapezoid(tpr.flip(0), fpr.flip(0)).item()
