# culprit: loss
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn
from torch.nn import functional as F


class ViewLoss(nn.Module):
    def __init__(self, gather=False):
        super().__init__()
        self.gather = gather

    def forward(self, views):
        alike = self.invariance(views)
        spread, correlation = self.spread_and_correlation(views)
        return alike + spread + correlation

    def invariance(self, views):
        loss = torch.tensor(0.0)
        count = torch.tensor(0)
        for one, _ in views:
            for other, _ in views:
                if one is not other:
                    loss += F.mse_loss(one, other)
                    count += 1
        return loss / count

    def spread_and_correlation(self, views):
        spread = torch.tensor(0.0)
        correlation = torch.tensor(0.0)
        for features, _ in views:
            if self.gather and torch.distributed.is_initialized():
                features = torch.cat([features])
            spread += F.relu(1 - features.std(dim=0)).mean()
            correlation += (features.T @ features).pow(2).mean()
        return spread, correlation


def main():
    views = [(torch.randn(5, 3), i) for i in range(2)]
    loss = ViewLoss()([(features.to("cuda"), i) for features, i in views])
    assert loss.is_cuda and torch.allclose(loss.cpu(), ViewLoss()(views))
