# culprit: valid
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn


class Pooler(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, lengths):
        n = x.size(1)
        valid = torch.arange(n)[None] < torch.tensor(lengths)[:, None]
        h = self.proj(x) * valid[..., None]
        return h.sum(1) / torch.tensor(lengths)[:, None]


def main():
    model = Pooler(4).to("cuda")
    out = model(torch.randn(3, 5, 4, device="cuda"), [5, 3, 2])
    assert out.is_cuda
