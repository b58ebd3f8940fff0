import torch


class PrivateOptimizer:
    """Clips each example's gradient, adds noise to their sum, and steps the optimizer it wraps."""

    def __init__(self, optimizer, params, max_norm=1.0, noise_multiplier=0.5, seed=0):
        self.optimizer = optimizer
        self.params = list(params)
        self.max_norm, self.noise_multiplier = max_norm, noise_multiplier
        self.generator = torch.Generator()
        self.generator.manual_seed(seed)
        self.reset()

    def reset(self):
        self.summed = [torch.zeros(p.shape) for p in self.params]
        self.examples = 0

    def accumulate(self):
        norm = torch.sqrt(sum(p.grad.pow(2).sum() for p in self.params))
        scale = (self.max_norm / (norm + 1e-6)).clamp(max=1.0)
        for total, p in zip(self.summed, self.params):
            total.add_(p.grad * scale)
            p.grad = None
        self.examples += 1
        return norm.detach()

    @torch.no_grad()
    def step(self):
        for total, p in zip(self.summed, self.params):
            noise = torch.normal(0.0, self.noise_multiplier * self.max_norm, p.shape, generator=self.generator, device=p.device)
            p.grad = (total + noise) / self.examples
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.reset()
