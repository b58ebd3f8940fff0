# culprit: self.preds | torch.cat(self.preds)
# cause: numpy_conversion
import numpy as np
import torch
from torch import nn


class ConfusionMatrixCallback:
    def __init__(self, num_classes):
        self.num_classes = num_classes

    def on_validation_start(self):
        self.preds, self.targets = [], []

    def on_validation_batch_end(self, logits, target):
        self.preds.append(logits.argmax(1))
        self.targets.append(target)

    def on_validation_end(self):
        p = torch.cat(self.preds).numpy()
        t = torch.cat(self.targets).numpy()
        cm = np.zeros((self.num_classes, self.num_classes), dtype=int)
        np.add.at(cm, (t, p), 1)
        print("accuracy per class", cm.diagonal() / cm.sum(1).clip(1))


class Trainer:
    def __init__(self, model, callbacks):
        self.model, self.callbacks = model, callbacks
        self.device = next(model.parameters()).device

    def call(self, hook, *args):
        for callback in self.callbacks:
            getattr(callback, hook)(*args)

    @torch.no_grad()
    def validate(self, loader):
        self.call("on_validation_start")
        for x, y in loader:
            x, y = x.to(self.device), y.to(self.device)
            self.call("on_validation_batch_end", self.model(x), y)
        self.call("on_validation_end")


def main():
    loader = [(torch.randn(4, 6), torch.randint(0, 3, (4,))) for _ in range(3)]
    Trainer(nn.Linear(6, 3).cuda(), [ConfusionMatrixCallback(3)]).validate(loader)
