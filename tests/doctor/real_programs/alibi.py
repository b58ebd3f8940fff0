# culprit: bias | alibi_bias(t)
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn

N_HEADS = 4
ALIBI_SLOPES = torch.tensor([2 ** (-8 * (i + 1) / N_HEADS) for i in range(N_HEADS)])


def alibi_bias(seq_len):
    pos = torch.arange(seq_len)
    distance = (pos[None, :] - pos[:, None]).clamp(max=0)
    return ALIBI_SLOPES[:, None, None] * distance


class AlibiAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, N_HEADS, d // N_HEADS).permute(2, 0, 3, 1, 4)
        bias = alibi_bias(t)
        scores = q @ k.transpose(-1, -2) / (d // N_HEADS) ** 0.5 + bias
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), float("-inf"))
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d))


def main():
    device = "cuda"
    model = nn.Sequential(nn.Embedding(100, 16), AlibiAttention(16), nn.LayerNorm(16), nn.Linear(16, 100)).to(device)
    tokens = torch.randint(0, 100, (2, 12), device=device)
    loss = nn.functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
