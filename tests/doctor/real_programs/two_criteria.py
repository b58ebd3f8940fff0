# culprit: self.cls_criterion.weight
# cause: loss_weight_not_moved
import torch
from torch import nn


class Trainer:
    def __init__(self, model, class_weights, device):
        self.device = device
        self.model = model.to(device)
        self.cls_criterion = nn.CrossEntropyLoss(weight=class_weights)
        self.tag_criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([1.0, 2.0, 4.0]))
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def step(self, x, y, tags):
        logits, tag_logits = self.model(x.to(self.device)).split([4, 3], 1)
        loss = self.cls_criterion(logits, y.to(self.device))
        loss = loss + self.tag_criterion(tag_logits, tags.to(self.device))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss


def main():
    trainer = Trainer(nn.Linear(5, 7), torch.rand(4), torch.device("cuda"))
    loss = trainer.step(torch.randn(6, 5), torch.randint(0, 4, (6,)), torch.rand(6, 3))
    assert loss.is_cuda
