import numpy as np
import torch


class MagnitudePruner:
    """Zeroes small weights and keeps them at zero: a hook masks the gradients."""

    def __init__(self, model, fraction):
        self.fraction = fraction
        self.weights = {name: p for name, p in model.named_parameters() if p.dim() > 1}
        self.masks, self.hooks = {}, []

    @torch.no_grad()
    def prune(self):
        for handle in self.hooks:
            handle.remove()
        self.hooks = []
        for name, p in self.weights.items():
            size = np.abs(p.detach().cpu().numpy())
            mask = torch.from_numpy((size > np.quantile(size, self.fraction)).astype(np.float32))
            self.masks[name] = mask
            p.data.mul_(mask)

    def freeze(self):
        for name, p in self.weights.items():
            keep = torch.ones(p.shape)
            keep[self.masks[name] == 0] = 0
            self.hooks.append(p.register_hook(lambda grad, keep=keep: grad * keep))

    def sparsity(self):
        zeros = sum(int((p == 0).sum()) for p in self.weights.values())
        return zeros / sum(p.numel() for p in self.weights.values())
