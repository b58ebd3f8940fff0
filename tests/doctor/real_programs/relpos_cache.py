# culprit: self.distance[t] | distance | self.bias_index(t, scores.device)
# cause: cached_before_move
import torch
from torch import nn


class RelativePositionBias(nn.Module):
    def __init__(self, heads, max_distance=16):
        super().__init__()
        self.max_distance = max_distance
        self.slopes = nn.Parameter(torch.randn(heads, 1, 1) * 0.1)
        self.distance = {}

    def bias_index(self, t, device):
        if t not in self.distance:
            pos = torch.arange(t, device=device)
            gap = (pos[None, :] - pos[:, None]).abs()
            self.distance[t] = gap.clamp(max=self.max_distance).float().log1p()
        return self.distance[t]

    def forward(self, scores):
        t = scores.shape[-1]
        distance = self.bias_index(t, scores.device)
        return scores - self.slopes.exp() * distance


class Block(nn.Module):
    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.bias = RelativePositionBias(heads)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        att = self.bias(q @ k.transpose(-1, -2) * (d // self.heads) ** -0.5).softmax(-1)
        return x + (att @ v).transpose(1, 2).reshape(b, t, d)


def summarize(model, shape):
    out = model(torch.zeros(shape))
    params = sum(p.numel() for p in model.parameters())
    return {"params": params, "output": tuple(out.shape)}


def main():
    model = nn.Sequential(Block(), Block(), nn.LayerNorm(16))
    info = summarize(model, (1, 12, 16))
    device = torch.device("cuda")
    model.to(device)
    x = torch.randn(4, 12, 16, device=device)
    loss = model(x).pow(2).mean()
    loss.backward()
    return info
