# culprit: mask | tgt_mask
# cause: tensor_created_in_forward_without_device
import math
import torch as th
import torch.nn.functional as F
from torch import nn


def subsequent_mask(sz):
    mask = th.triu(th.ones(sz, sz), diagonal=1)
    return mask == 1


def attention(query, key, value, mask=None):
    d_k = query.size(-1)
    scores = th.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask, -1e9)
    return th.matmul(F.softmax(scores, dim=-1), value)


class Decoder(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.q = nn.Linear(d, d)

    def make_std_mask(self, tgt):
        tgt_mask = subsequent_mask(tgt.size(1))
        return tgt_mask

    def forward(self, tgt):
        mask = self.make_std_mask(tgt)
        q = self.q(tgt)
        return attention(q, tgt, tgt, mask)


def main():
    for dev in ("cuda", "cpu"):
        model = Decoder().to(dev)
        out = model(th.randn(2, 5, 8, device=dev))
        assert out.device.type == dev
