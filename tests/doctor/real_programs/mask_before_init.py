# culprit: self.mask
# cause: unregistered_tensor_attribute
import torch
from torch import nn


class Heads(nn.Module):
    def __init__(self, size, outputs):
        super().__init__()
        self.head = nn.Linear(size, outputs)

    def forward(self, x):
        return self.head(x)


class Categories(Heads):
    def __init__(self, size, counts):
        most = max(counts)
        self.mask = torch.zeros(len(counts), most, dtype=torch.bool)
        for row, count in enumerate(counts):
            self.mask[row, count:] = True
        super().__init__(size, len(counts) * most)

    def forward(self, x):
        logits = super().forward(x)
        return logits.masked_fill(self.mask.flatten(), -1e9)


def main():
    torch.manual_seed(0)
    model, x = Categories(3, [2, 4]), torch.randn(5, 3)
    expected = model(x)
    model.to("cuda")
    assert torch.allclose(model(x.to("cuda")).cpu(), expected, atol=1e-5)
