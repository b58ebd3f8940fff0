# culprit: lengths
# cause: cpu_only_argument
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence


def main():
    device = torch.device("cuda")
    rnn = nn.GRU(4, 8, batch_first=True).to(device)
    x = torch.randn(3, 5, 4)
    lengths = torch.tensor([5, 3, 2])
    x, lengths = x.to(device), lengths.to(device)
    packed = pack_padded_sequence(x, lengths, batch_first=True)
    rnn(packed)
