import torch
import torch.nn as nn
import torch.nn.functional as F


def one_hot(mask, num_classes):
    n, h, w = mask.shape
    out = torch.zeros(n, num_classes, h, w)
    return out.scatter_(1, mask.unsqueeze(1), 1.0)


def dice_score(probs, target, eps=1e-5):
    inter = (probs * target).sum(dim=(2, 3))
    return (2 * inter + eps) / (probs.sum(dim=(2, 3)) + target.sum(dim=(2, 3)) + eps)


class DeepSupervisionLoss(nn.Module):
    def __init__(self, num_classes, weights=(1.0, 0.5)):
        super().__init__()
        self.num_classes, self.weights = num_classes, weights

    def single(self, logits, mask, lam):
        mask = F.interpolate(mask.unsqueeze(1).float(), size=logits.shape[2:]).squeeze(1).long()
        target = one_hot(mask, self.num_classes)
        ce = -(target * logits.log_softmax(dim=1)).sum(dim=1).mean(dim=(1, 2))
        dice = 1 - dice_score(logits.softmax(dim=1), target).mean(dim=1)
        return ((ce + dice) * lam.flatten()).mean()

    def forward(self, pyramid, mask_a, mask_b, lam):
        total = torch.zeros(1)
        for weight, logits in zip(self.weights, pyramid):
            total += weight * (self.single(logits, mask_a, lam) + self.single(logits, mask_b, 1 - lam))
        return total
