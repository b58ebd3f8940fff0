# culprit: cos | sin
# cause: split_model_activation_not_moved
import torch
from torch import nn


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


class DecoderLayer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, h, position_embeddings):
        cos, sin = position_embeddings
        q = self.q(h) * cos + rotate_half(self.q(h)) * sin
        k = self.k(h) * cos + rotate_half(self.k(h)) * sin
        return h + nn.functional.scaled_dot_product_attention(q, k, self.v(h), is_causal=True)


class SplitLlama(nn.Module):
    def __init__(self, dim=16, n_layers=4, vocab=40):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim).to("cuda:0")
        self.layers = nn.ModuleList(DecoderLayer(dim).to(f"cuda:{i * 2 // n_layers}") for i in range(n_layers))
        self.lm_head = nn.Linear(dim, vocab).to("cuda:1")
        self.register_buffer("inv_freq", 1.0 / (10000 ** (torch.arange(0, dim, 2, device="cuda:0") / dim)))

    def forward(self, input_ids):
        h = self.embed(input_ids)
        freqs = torch.outer(torch.arange(h.size(1), device=h.device), self.inv_freq).repeat(1, 2)
        position_embeddings = (freqs.cos(), freqs.sin())
        for layer in self.layers:
            h = layer(h.to(layer.q.weight.device), position_embeddings)
        return self.lm_head(h)


def main():
    return SplitLlama()(torch.randint(0, 40, (1, 7), device="cuda:0"))
