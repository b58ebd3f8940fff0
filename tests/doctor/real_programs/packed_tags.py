# culprit: tokens
# cause: input_not_moved
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 6)
        self.gru = nn.GRU(6, 6, batch_first=True)
        self.tag = nn.Embedding(4, 6)

    def forward(self, tokens, tags, sizes):
        x = self.embed(tokens) + self.tag(tags)
        packed = pack_padded_sequence(x, sizes, batch_first=True, enforce_sorted=False)
        out, _ = self.gru(packed)
        return pad_packed_sequence(out, batch_first=True)[0]


def main():
    model = Encoder().cuda()
    tokens, tags, sizes = torch.randint(0, 10, (3, 5)), torch.randint(0, 4, (3, 5)), torch.tensor([5, 3, 2])
    out = model(tokens, tags, sizes)
    assert out.is_cuda and not sizes.is_cuda
