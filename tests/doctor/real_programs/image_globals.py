# culprit: MEAN
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn

MEAN = torch.tensor([0.4, 0.5, 0.6]).view(3, 1, 1)
STD = torch.tensor([0.2, 0.2, 0.3]).view(3, 1, 1)


def preprocess(images):
    images = images - MEAN
    return images / STD


def main():
    net = nn.Conv2d(3, 4, 3).cuda()
    out = net(preprocess(torch.rand(2, 3, 8, 8, device="cuda")))
    assert out.is_cuda
