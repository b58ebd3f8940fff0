import math

import torch
import torch.nn as nn


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=64):
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, d_model)
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.pe = pe

    def forward(self, x):
        return x + self.pe[: x.size(1)]


class Retention(nn.Module):
    def __init__(self, d_model, gamma=0.9):
        super().__init__()
        self.gamma = gamma
        self.qkv = nn.Linear(d_model, 3 * d_model)

    def get_decay_mask(self, length):
        n = torch.arange(length)
        diff = n[:, None] - n[None, :]
        return torch.where(diff >= 0, self.gamma ** diff.float(), 0.0)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = q @ k.transpose(-2, -1) / math.sqrt(x.size(-1))
        return (scores * self.get_decay_mask(x.size(1))) @ v


class LanguageModel(nn.Module):
    def __init__(self, vocab, d_model=24, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, d_model)
        self.pos = PositionalEncoding(d_model)
        self.blocks = nn.ModuleList(Retention(d_model) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(layers))
        self.head = nn.Linear(d_model, vocab, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens):
        x = self.pos(self.embed(tokens))
        for norm, block in zip(self.norms, self.blocks):
            x = x + block(norm(x))
        return self.head(x)
