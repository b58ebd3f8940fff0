import math

import torch
import torch.nn as nn


def create_mask(size):
    return torch.triu(torch.ones(size, size), diagonal=1).bool()


class CaptionModel(nn.Module):
    def __init__(self, vocab=14, d=16, max_len=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.pos = nn.Parameter(torch.zeros(max_len, d))
        self.image = nn.Linear(6, d)
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self.out = nn.Linear(d, vocab)

    def forward(self, feats, tokens, mask):
        x = self.embed(tokens) + self.pos[: tokens.size(1)] + self.image(feats).unsqueeze(1)
        scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(x.size(-1))
        attn = scores.masked_fill(mask, -1e9).softmax(dim=-1)
        return self.out(x + attn @ self.v(x))
