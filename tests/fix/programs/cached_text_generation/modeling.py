import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, dim, max_len=40):
        super().__init__()
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        inv_freq = 1.0 / (100 ** (torch.arange(0, dim, 2) / dim))
        self.angles = torch.outer(torch.arange(max_len).float(), inv_freq)

    def rotate(self, x, start):
        a = self.angles[start : start + x.size(1)]
        x1, x2 = x.chunk(2, dim=-1)
        return torch.cat([x1 * a.cos() - x2 * a.sin(), x1 * a.sin() + x2 * a.cos()], dim=-1)

    def forward(self, x, attention_mask, past=None):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        start = 0 if past is None else past[0].size(1)
        q, k = self.rotate(q, start), self.rotate(k, start)
        if past is not None:
            k, v = torch.cat([past[0], k], dim=1), torch.cat([past[1], v], dim=1)
        scores = q @ k.transpose(1, 2) / k.size(-1) ** 0.5
        causal = torch.ones(q.size(1), k.size(1), dtype=torch.bool).tril(diagonal=start)
        scores = scores.masked_fill(~(causal & attention_mask.bool()[:, None, :]), -1e9)
        return self.out(scores.softmax(-1) @ v), (k, v)


class TinyLM(nn.Module):
    def __init__(self, vocab, dim=16):
        super().__init__()
        self.embed, self.attn, self.head = nn.Embedding(vocab, dim), Attention(dim), nn.Linear(dim, vocab)

    def forward(self, input_ids, attention_mask, past=None):
        h = self.embed(input_ids)
        a, past = self.attn(h, attention_mask, past)
        return self.head(h + a), past
