# culprit: batch[0] | batch
# cause: input_not_moved
import torch
from torch import nn


class Fusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.Linear(6, 4)
        self.text = nn.Linear(5, 4)
        self.audio = nn.Linear(3, 4)

    def forward(self, batch):
        image = self.image(batch[0])
        text = self.text(batch[1])
        audio = self.audio(batch[2])
        return image + text + audio


def main():
    model = Fusion().to("cuda")
    batch = [torch.randn(2, 6), torch.randn(2, 5), torch.randn(2, 3)]
    assert model(batch).is_cuda
