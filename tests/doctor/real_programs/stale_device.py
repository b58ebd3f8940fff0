# culprit: h | self.device
# cause: tensor_created_in_forward_without_device | hidden_state_not_moved
import torch
from torch import nn


class GRUEncoder(nn.Module):
    def __init__(self, inp, hidden, device="cpu"):
        super().__init__()
        self.hidden = hidden
        self.device = device
        self.cell = nn.GRUCell(inp, hidden)
        self.out = nn.Linear(hidden, 2)

    def forward(self, x):
        h = torch.zeros(x.size(0), self.hidden, device=self.device)
        for t in range(x.size(1)):
            h = self.cell(x[:, t], h)
        return self.out(h)


def main():
    for dev in ("cuda", "cuda:1", "cpu"):
        enc = GRUEncoder(3, 4)
        enc.to(dev)
        out = enc(torch.randn(2, 5, 3, device=dev))
        assert out.device == torch.empty(0, device=dev).device
