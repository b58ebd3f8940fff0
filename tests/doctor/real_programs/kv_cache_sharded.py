# culprit: k | v | cache.k[self.index]
# cause: split_model_activation_not_moved | wrong_default_index | tensor_created_in_forward_without_device
import torch
from torch import nn


class StaticCache:
    def __init__(self, n_layers, batch, max_len, dim, device):
        shape = (batch, max_len, dim)
        self.k = [torch.zeros(shape, device=device) for _ in range(n_layers)]
        self.v = [torch.zeros(shape, device=device) for _ in range(n_layers)]

    def update(self, layer, start, k, v):
        end = start + k.size(1)
        self.k[layer][:, start:end], self.v[layer][:, start:end] = k, v
        return self.k[layer][:, :end], self.v[layer][:, :end]


class Block(nn.Module):
    def __init__(self, index, dim):
        super().__init__()
        self.index, self.qkv = index, nn.Linear(dim, 3 * dim)

    def forward(self, x, cache, start):
        q, k, v = self.qkv(x).chunk(3, -1)
        k, v = cache.update(self.index, start, k, v)
        return x + nn.functional.scaled_dot_product_attention(q, k, v)


def main():
    devices = ["cuda:0", "cuda:0", "cuda:1", "cuda:1"]
    embed = nn.Embedding(30, 8).to(devices[0])
    blocks = [Block(i, 8).to(d) for i, d in enumerate(devices)]
    cache = StaticCache(len(blocks), batch=1, max_len=16, dim=8, device=embed.weight.device)
    ids, start = torch.randint(0, 30, (1, 5), device=devices[0]), 0
    with torch.no_grad():
        for _ in range(3):
            h = embed(ids)
            for block, d in zip(blocks, devices):
                h = block(h.to(d), cache, start)
            start, ids = start + ids.size(1), h[:, -1:].mean(-1).long().abs().to(devices[0])
