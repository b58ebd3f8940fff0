import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim, padding_idx=0)
        self.rnn = nn.GRU(dim, dim, batch_first=True)

    def forward(self, src):
        outputs, _ = self.rnn(self.embedding(src))
        return outputs


class Decoder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.dim = dim
        self.embedding = nn.Embedding(vocab, dim)
        self.cell = nn.GRUCell(2 * dim, dim)
        self.out = nn.Linear(2 * dim, vocab)

    def init_hidden(self, batch_size):
        return torch.zeros(batch_size, self.dim)

    def forward(self, token, hidden, memory, lengths):
        scores = torch.bmm(memory, hidden.unsqueeze(2)).squeeze(2)
        mask = torch.arange(memory.size(1))[None, :] >= lengths[:, None]
        weights = scores.masked_fill(mask, float("-inf")).softmax(dim=1)
        context = torch.bmm(weights.unsqueeze(1), memory).squeeze(1)
        hidden = self.cell(torch.cat([self.embedding(token), context], dim=1), hidden)
        return self.out(torch.cat([hidden, context], dim=1)), hidden
