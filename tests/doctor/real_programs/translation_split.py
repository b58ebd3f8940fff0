# culprit: padding | src_padding | padding[:, None, :]
# cause: split_model_activation_not_moved
import torch
from torch import nn

PAD = 0


class CrossAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q, self.kv = nn.Linear(dim, dim), nn.Linear(dim, 2 * dim)

    def forward(self, x, memory, padding):
        k, v = self.kv(memory).chunk(2, -1)
        scores = self.q(x) @ k.transpose(1, 2) / k.shape[-1] ** 0.5
        scores = scores.masked_fill(padding[:, None, :], float("-inf"))
        return x + scores.softmax(-1) @ v


class SplitTranslator(nn.Module):
    def __init__(self, vocab=50, dim=16, first="cuda:0", second="cuda:1"):
        super().__init__()
        self.first, self.second = torch.device(first), torch.device(second)
        self.src_embed = nn.Embedding(vocab, dim, padding_idx=PAD).to(self.first)
        self.encoder = nn.GRU(dim, dim, batch_first=True).to(self.first)
        self.tgt_embed = nn.Embedding(vocab, dim, padding_idx=PAD).to(self.second)
        self.decoder = nn.GRU(dim, dim, batch_first=True).to(self.second)
        self.cross = CrossAttention(dim).to(self.second)
        self.head = nn.Linear(dim, vocab).to(self.second)

    def forward(self, src, tgt):
        src = src.to(self.first)
        src_padding = src.eq(PAD)
        memory, _ = self.encoder(self.src_embed(src))
        y, _ = self.decoder(self.tgt_embed(tgt.to(self.second)))
        y = self.cross(y, memory.to(self.second), src_padding)
        return self.head(y)


def main():
    model = SplitTranslator()
    src, tgt = torch.randint(1, 50, (3, 9)), torch.randint(1, 50, (3, 7))
    src[1, 6:] = PAD
    logits = model(src, tgt[:, :-1])
    labels = tgt[:, 1:].to(logits.device)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD)
    loss.backward()
