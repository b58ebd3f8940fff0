import torch
from torch.nn.utils.rnn import pad_sequence

PAD, SOS, EOS = 0, 1, 2
VOCAB = 12


class ReverseDataset(torch.utils.data.Dataset):
    def __init__(self, n):
        self.items = [torch.randint(3, VOCAB, (int(torch.randint(3, 8, (1,))),)) for _ in range(n)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        src = self.items[i]
        trg = torch.cat([torch.tensor([SOS]), src.flip(0), torch.tensor([EOS])])
        return src, trg


def collate(batch):
    batch.sort(key=lambda pair: len(pair[0]), reverse=True)
    srcs, trgs = zip(*batch)
    lengths = torch.tensor([len(s) for s in srcs])
    return pad_sequence(srcs, batch_first=True), lengths, pad_sequence(trgs, batch_first=True)
