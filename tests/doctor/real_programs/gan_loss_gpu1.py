# culprit: target_tensor
# cause: wrong_default_index | hardcoded_cuda
import argparse

import torch
from torch import nn


class GANLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = nn.MSELoss()

    def get_target_tensor(self, prediction, is_real):
        value = 1.0 if is_real else 0.0
        return torch.full(prediction.size(), value).cuda()

    def forward(self, predictions, is_real):
        total = 0.0
        for prediction in predictions:
            target_tensor = self.get_target_tensor(prediction, is_real)
            total = total + self.loss(prediction, target_tensor)
        return total / len(predictions)


class MultiScaleDiscriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.nets = nn.ModuleList(nn.Conv2d(3, 1, 3, padding=1) for _ in range(2))
        self.down = nn.AvgPool2d(2)

    def forward(self, x):
        return [self.nets[0](x), self.nets[1](self.down(x))]


def main():
    opt = argparse.Namespace(gpu_id=1)
    device = torch.device("cuda", opt.gpu_id)
    netD, criterion = MultiScaleDiscriminator().to(device), GANLoss().to(device)
    real, fake = torch.rand(2, 3, 8, 8, device=device), torch.rand(2, 3, 8, 8, device=device)
    loss = 0.5 * (criterion(netD(real), True) + criterion(netD(fake), False))
    loss.backward()
