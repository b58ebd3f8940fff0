# culprit: noise
# cause: data_parallel_unreplicated_state | wrong_default_index | split_model_activation_not_moved
import torch
from torch import nn


class Gen(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        noise = torch.randn(x.size(0), 8)
        noise = noise.cuda(0)
        return self.fc(x + noise)


def main():
    net = nn.DataParallel(Gen().cuda(), device_ids=[0, 1])
    net(torch.randn(8, 8).cuda())
