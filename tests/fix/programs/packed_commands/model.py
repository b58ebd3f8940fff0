import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class CommandNet(nn.Module):
    def __init__(self, in_dim=5, hidden=16, classes=4):
        super().__init__()
        self.hidden = hidden
        self.gru = nn.GRU(in_dim, hidden, batch_first=True, bidirectional=True)
        self.score = nn.Linear(2 * hidden, 1)
        self.fc = nn.Linear(2 * hidden, classes)

    def init_hidden(self, batch_size):
        return torch.zeros(2, batch_size, self.hidden)

    def forward(self, features, lengths):
        packed = pack_padded_sequence(features, lengths, batch_first=True, enforce_sorted=False)
        out, _ = pad_packed_sequence(self.gru(packed, self.init_hidden(len(lengths)))[0], batch_first=True)
        mask = torch.arange(out.size(1)).unsqueeze(0) < lengths.unsqueeze(1)
        weights = self.score(out).squeeze(-1).masked_fill(~mask, -1e9).softmax(dim=1)
        return self.fc((weights.unsqueeze(-1) * out).sum(dim=1))
