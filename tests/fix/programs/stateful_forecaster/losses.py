import torch


class PinballLoss:
    def __init__(self, quantiles):
        self.quantiles = torch.tensor(quantiles)

    def __call__(self, preds, target):
        error = target - preds
        q = self.quantiles
        return torch.maximum(q * error, (q - 1) * error).mean()
