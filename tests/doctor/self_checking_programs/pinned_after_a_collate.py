# culprit: loader
# cause: pin_memory_on_cuda_tensor | pinned_after_the_move
import torch
from torch.utils.data import DataLoader


class Padded:
    def __init__(self, device):
        self.device = device

    def __call__(self, rows):
        return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True).to(self.device)


def longest(loader):
    lengths = []
    for batch in loader:
        lengths.append(batch.shape[1])
    return max(lengths)


def main():
    rows = [torch.ones(1 + number % 3) for number in range(6)]
    loader = DataLoader(rows, batch_size=2, collate_fn=Padded("cuda"), pin_memory=True)
    assert longest(loader) == 3
