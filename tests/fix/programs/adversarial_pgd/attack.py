import torch
import torch.nn.functional as F


class PGD:
    def __init__(self, model, eps=8 / 255, alpha=2 / 255, steps=7, random_start=True):
        self.model, self.eps, self.alpha, self.steps = model, eps, alpha, steps
        self.random_start = random_start
        self.device = next(model.parameters()).device

    def __call__(self, images, labels):
        images = images.clone().detach().to(self.device)
        labels = labels.clone().detach().to(self.device)
        adv = images.clone()
        if self.random_start:
            delta = torch.empty(images.shape).uniform_(-self.eps, self.eps)
            adv = (adv + delta).clamp(0, 1).detach()
        for _ in range(self.steps):
            adv.requires_grad = True
            loss = F.cross_entropy(self.model(adv), labels)
            (grad,) = torch.autograd.grad(loss, adv)
            adv = adv.detach() + self.alpha * grad.sign()
            adv = (images + (adv - images).clamp(-self.eps, self.eps)).clamp(0, 1).detach()
        return adv
