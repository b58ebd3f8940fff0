import torch


def sliding_window(scores, window):
    n = scores.size(-1)
    i = torch.arange(n)
    outside = (i[:, None] - i[None, :]).abs() > window
    return scores.masked_fill(outside, float("-inf"))


def padding(scores, lengths):
    keys = torch.arange(scores.size(-1), device=scores.device)
    return scores.masked_fill(keys >= lengths[:, None, None], float("-inf"))
