import torch
import torch.nn as nn


class CenterLoss(nn.Module):
    def __init__(self, num_classes, feat_dim, momentum=0.5):
        super().__init__()
        self.momentum = momentum
        self.centers = torch.randn(num_classes, feat_dim)

    def forward(self, x, labels):
        diff = x - self.centers[labels]
        with torch.no_grad():
            for c in labels.unique():
                self.centers[c] += self.momentum * diff[labels == c].mean(dim=0)
        return diff.pow(2).sum(dim=1).mean()
