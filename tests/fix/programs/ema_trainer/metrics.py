import torch


class ClassAccuracy:
    def __init__(self, num_classes):
        self.correct = torch.zeros(num_classes)
        self.total = torch.zeros(num_classes)

    def update(self, preds, target):
        hit = (preds == target).float()
        self.correct.scatter_add_(0, target, hit)
        self.total.scatter_add_(0, target, torch.ones_like(hit))

    def compute(self):
        return self.correct / self.total.clamp(min=1)
