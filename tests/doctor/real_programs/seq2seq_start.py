# culprit: token
# cause: tensor_created_in_forward_without_device
import random
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRUCell(dim, dim)
        self.out = nn.Linear(dim, vocab)

    def forward(self, token, hidden):
        hidden = self.rnn(self.embed(token), hidden)
        return self.out(hidden), hidden


class Seq2Seq(nn.Module):
    def __init__(self, vocab=15, dim=8, sos=1):
        super().__init__()
        self.sos = sos
        self.embed = nn.Embedding(vocab, dim)
        self.encoder = nn.GRU(dim, dim, batch_first=True)
        self.decoder = Decoder(vocab, dim)

    def forward(self, src, trg, teacher_forcing=0.5):
        _, hidden = self.encoder(self.embed(src))
        hidden = hidden[-1]
        token = torch.full((src.size(0),), self.sos, dtype=torch.long)
        outputs = []
        for t in range(trg.size(1)):
            logits, hidden = self.decoder(token, hidden)
            outputs.append(logits)
            token = trg[:, t] if random.random() < teacher_forcing else logits.argmax(-1)
        return torch.stack(outputs, dim=1)


def main():
    model = Seq2Seq().to("cuda")
    src = torch.randint(0, 15, (3, 6)).to("cuda")
    trg = torch.randint(0, 15, (3, 5)).to("cuda")
    logits = model(src, trg)
    nn.functional.cross_entropy(logits.flatten(0, 1), trg.flatten()).backward()
