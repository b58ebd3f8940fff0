# culprit: rows.to(self.encoder.weight.device)
# cause: fork_cuda
import torch
from torch import nn
from torch.utils.data import DataLoader


class Encoded:
    def __init__(self, encoder):
        self.encoder = encoder

    def __call__(self, rows):
        rows = torch.stack(rows)
        rows = rows.to(self.encoder.weight.device)
        return self.encoder(rows)


def train(batch):
    return batch.sum().item()


def main():
    rows = torch.ones(4, 3)
    encoder = nn.Linear(3, 2).cuda()
    for batch in DataLoader(rows, 2, collate_fn=Encoded(encoder), num_workers=1, multiprocessing_context="fork"):
        train(batch)
