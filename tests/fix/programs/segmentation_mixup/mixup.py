import torch


def mixup(images, masks, alpha=0.4):
    lam = torch.distributions.Beta(alpha, alpha).sample((images.size(0), 1, 1, 1))
    index = torch.randperm(images.size(0))
    mixed = lam * images + (1 - lam) * images[index]
    return mixed, masks, masks[index], lam
