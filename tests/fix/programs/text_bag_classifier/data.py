import random

import torch

TOPICS = {0: ["ball", "team", "goal", "match"], 1: ["stock", "bank", "market", "price"], 2: ["planet", "star", "orbit", "moon"]}
WORDS = ["the", "a", "of", "and"] + [w for ws in TOPICS.values() for w in ws]
VOCAB = {w: i for i, w in enumerate(WORDS)}


def make_sentences(n, seed):
    rng = random.Random(seed)
    out = []
    for _ in range(n):
        label = rng.randrange(3)
        words = [rng.choice(TOPICS[label] if rng.random() < 0.5 else WORDS) for _ in range(rng.randint(3, 7))]
        out.append((label, " ".join(words)))
    return out


def text_pipeline(text):
    return [VOCAB[w] for w in text.split()]


class CollateBatch:
    def __init__(self, device):
        self.device = device

    def __call__(self, batch):
        label_list, text_list, offsets = [], [], [0]
        for label, text in batch:
            label_list.append(label)
            ids = torch.tensor(text_pipeline(text), dtype=torch.int64)
            text_list.append(ids)
            offsets.append(ids.size(0))
        label_list = torch.tensor(label_list, dtype=torch.int64)
        offsets = torch.tensor(offsets[:-1]).cumsum(dim=0)
        text_list = torch.cat(text_list)
        return label_list.to(self.device), text_list.to(self.device), offsets
