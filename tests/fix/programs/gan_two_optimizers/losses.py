import torch
import torch.nn as nn


class GANLoss(nn.Module):
    def __init__(self, real_label=0.9, fake_label=0.0):
        super().__init__()
        self.real_label = torch.tensor([real_label])
        self.fake_label = torch.tensor([fake_label])
        self.loss = nn.BCEWithLogitsLoss()

    def forward(self, prediction, is_real):
        target = self.real_label if is_real else self.fake_label
        return self.loss(prediction, target.expand_as(prediction))
