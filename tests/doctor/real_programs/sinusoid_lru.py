# culprit: sinusoid_table(t, d) | pe
# cause: tensor_created_in_forward_without_device
import functools
import math
import torch
from torch import nn


def frequencies(dim, base=10000.0):
    return torch.exp(-math.log(base) * torch.arange(0, dim, 2) / dim)


@functools.lru_cache(maxsize=32)
def sinusoid_table(length, dim):
    angles = torch.arange(length)[:, None] * frequencies(dim)[None, :]
    table = torch.empty(length, dim)
    table[:, 0::2] = angles.sin()
    table[:, 1::2] = angles.cos()
    return table


class Encoder(nn.Module):
    def __init__(self, vocab=64, dim=32, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        layer = nn.TransformerEncoderLayer(dim, 4, 64, batch_first=True, dropout=0.0)
        self.layers = nn.TransformerEncoder(layer, layers)
        self.head = nn.Linear(dim, 2)

    def forward(self, tokens):
        x = self.embed(tokens)
        _, t, d = x.shape
        pe = sinusoid_table(t, d)
        x = self.layers(x * math.sqrt(d) + pe)
        return self.head(x.mean(1))


def main():
    device = torch.device("cuda")
    model = Encoder().to(device)
    tokens = torch.randint(0, 64, (4, 10)).to(device)
    labels = torch.randint(0, 2, (4,)).to(device)
    loss = nn.functional.cross_entropy(model(tokens), labels)
    loss.backward()
