# culprit: self.banned
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn


class BanTokens:
    """Never emit these ids."""

    def __init__(self, bad_ids, vocab_size):
        self.banned = torch.zeros(vocab_size, dtype=torch.bool)
        self.banned[bad_ids] = True

    def __call__(self, input_ids, scores):
        return scores.masked_fill(self.banned, -float("inf"))


class RepetitionPenalty:
    def __init__(self, penalty):
        self.penalty = penalty

    def __call__(self, input_ids, scores):
        picked = scores.gather(1, input_ids)
        picked = torch.where(picked < 0, picked * self.penalty, picked / self.penalty)
        return scores.scatter(1, input_ids, picked)


def greedy(model, ids, processors, n=4):
    for _ in range(n):
        scores = model(ids)[:, -1]
        for process in processors:
            scores = process(ids, scores)
        ids = torch.cat([ids, scores.argmax(-1, keepdim=True)], dim=-1)
    return ids


def main():
    vocab = 30
    model = nn.Sequential(nn.Embedding(vocab, 8), nn.Linear(8, vocab)).cuda()
    ids = torch.tensor([[1, 5, 7], [2, 8, 4]]).cuda()
    processors = [RepetitionPenalty(1.2), BanTokens([0, 3, 29], vocab)]
    with torch.inference_mode():
        return greedy(model, ids, processors)
