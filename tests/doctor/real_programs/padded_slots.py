# culprit: padded
# cause: written_values_on_wrong_device | tensor_created_in_forward_without_device
import torch
from torch import nn


class Slots(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.score = nn.Linear(dim, 1)
        self.value = nn.Linear(dim, dim)

    def forward(self, tokens, keep):
        batch, length, dim = tokens.shape
        scores = self.score(tokens)[..., 0]
        padded = torch.full((batch, length), -1e9)
        padded[keep] = scores[keep]
        weights = padded.softmax(-1)
        values = torch.zeros(batch, length, dim)
        values[keep] = self.value(tokens)[keep]
        return (weights[..., None] * values).sum(1)


def main():
    model = Slots(4).cuda()
    out = model(torch.randn(2, 5, 4, device="cuda"), torch.rand(2, 5, device="cuda") > 0.3)
    assert out.is_cuda
