import torch


class CollocationPoints:
    """Points inside the domain; `refine` keeps those with a large residual and draws the others again."""

    def __init__(self, n, device):
        self.n = n
        self.points = self.sample(n).to(device)

    def sample(self, n):
        return torch.rand(n, 2)

    def refine(self, residual):
        size = residual.detach().abs().flatten()
        kept = self.points[size > size.mean()]
        new = self.sample(self.n - len(kept))
        self.points = torch.cat([kept, new])
        return len(kept)
