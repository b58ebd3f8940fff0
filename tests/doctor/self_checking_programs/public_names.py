# culprit: noise
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn


class Arguments:
    def __init__(self, device):
        self._set_up = torch.device(device)

    @property
    def device(self):
        return torch.device(str(self._set_up))


class Trainer:
    def __init__(self, model, args):
        self.args = args
        self.model = model.to(args.device)

    def step(self, batch):
        noise = torch.randn(batch.size(0), 3)
        return self.model(batch.to(self.args.device)) + noise


def main():
    for device in ("cuda:0", "cuda:1", "cpu"):
        out = Trainer(nn.Linear(3, 3), Arguments(device)).step(torch.ones(2, 3))
        assert out.device == torch.device(device)
