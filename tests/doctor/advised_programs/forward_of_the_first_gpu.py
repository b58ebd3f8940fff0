# culprit: forward
# cause: data_parallel_unreplicated_state
import torch
from torch import nn


def counted(layer, calls):
    forward = layer.forward

    def count(*args):
        calls.append(1)
        return forward(*args)

    layer.forward = count


def main():
    model, calls = nn.Sequential(nn.Linear(3, 2), nn.Tanh()).cuda(), []
    counted(model[0], calls)
    nn.DataParallel(model)(torch.ones(4, 3, device="cuda"))
