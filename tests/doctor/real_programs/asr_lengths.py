# culprit: lengths | batch["lengths"]
# cause: cpu_only_argument
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader


def collate(items):
    items = sorted(items, key=lambda it: -len(it["feats"]))
    return {
        "feats": pad_sequence([it["feats"] for it in items], batch_first=True),
        "lengths": torch.tensor([len(it["feats"]) for it in items]),
        "labels": torch.stack([it["label"] for it in items]),
    }


class SpeechEncoder(nn.Module):
    def __init__(self, n_mels=8, hidden=12, n_classes=3):
        super().__init__()
        self.rnn = nn.GRU(n_mels, hidden, bidirectional=True, batch_first=True)
        self.head = nn.Linear(2 * hidden, n_classes)

    def forward(self, feats, lengths):
        packed = pack_padded_sequence(feats, lengths, batch_first=True)
        out, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.head(out.mean(1))


def main():
    device = torch.device("cuda:0")
    data = [{"feats": torch.randn(5 + i, 8), "label": torch.tensor(i % 3)} for i in range(8)]
    model = SpeechEncoder().to(device)
    for batch in DataLoader(data, batch_size=4, collate_fn=collate):
        batch = {k: v.to(device) for k, v in batch.items()}
        logits = model(batch["feats"], batch["lengths"])
        loss = nn.functional.cross_entropy(logits, batch["labels"])
        loss.backward()
