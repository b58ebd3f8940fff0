import random

import torch


class SpecAugment:
    def __init__(self, time_width=3, prob=0.5):
        self.time_width, self.prob = time_width, prob

    def __call__(self, mel):
        if random.random() > self.prob:
            return mel
        start = torch.randint(0, mel.size(1) - self.time_width, (mel.size(0), 1), device=mel.device)
        position = torch.arange(mel.size(1))[None, :]
        mask = (position >= start) & (position < start + self.time_width)
        return mel.masked_fill(mask.unsqueeze(-1), 0.0)
