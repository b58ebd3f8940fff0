# culprit: self.codebook
# cause: unregistered_tensor_attribute
import torch
from torch import nn


class VQAutoencoder(nn.Module):
    def __init__(self, dim=6, codes=8):
        super().__init__()
        self.encoder = nn.Linear(dim, 4)
        self.decoder = nn.Linear(4, dim)
        self.codebook = torch.randn(codes, 4)
        self.usage = torch.zeros(codes)
        self.offset = torch.linspace(0, 1, dim)

    def _encode(self, x):
        z = self.encoder(x)
        index = torch.cdist(z, self.codebook).argmin(1)
        return index

    def _decode(self, index):
        z = self.codebook[index]
        self._count(index)
        return self.decoder(z) + self.offset

    def _count(self, index):
        self.usage.index_add_(0, index, torch.ones_like(index, dtype=torch.float))

    def forward(self, x):
        return self._decode(self._encode(x))


def main():
    model = VQAutoencoder().cuda()
    out = model(torch.randn(5, 6, device="cuda"))
    assert out.is_cuda and model.usage.sum() == 5
