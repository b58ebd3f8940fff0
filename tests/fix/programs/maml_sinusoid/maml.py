import torch


class MAML:
    def __init__(self, learner, device, inner_lr=0.02, meta_lr=0.005):
        self.learner, self.device = learner, device
        self.params = [p.to(device).requires_grad_() for p in learner.parameters()]
        self.inner_lr = {i: torch.full(p.shape, inner_lr).requires_grad_() for i, p in enumerate(self.params)}
        self.optimizer = torch.optim.Adam([*self.params, *self.inner_lr.values()], lr=meta_lr)

    def adapt(self, batch, steps=2):
        fast = self.params
        for _ in range(steps):
            grads = torch.autograd.grad(self.learner.compute_loss(fast, batch), fast, create_graph=True)
            fast = [p - self.inner_lr[i] * g for i, (p, g) in enumerate(zip(fast, grads))]
        return fast

    def meta_step(self, tasks=4):
        self.optimizer.zero_grad()
        total = 0.0
        for _ in range(tasks):
            self.learner.select_task()
            fast = self.adapt(self.learner.get_batch())
            loss = self.learner.compute_loss(fast, self.learner.get_batch()) / tasks
            loss.backward()
            total += loss.item()
        self.optimizer.step()
        return total
