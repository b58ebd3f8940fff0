# culprit: mask
# cause: input_not_moved
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class EncodedTexts(Dataset):
    def __init__(self, n=12, length=7):
        self.input_ids = torch.randint(1, 40, (n, length))
        self.attention_mask = (torch.rand(n, length) > 0.2).long()
        self.labels = torch.randint(0, 2, (n,))

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {"input_ids": self.input_ids[i], "attention_mask": self.attention_mask[i], "labels": self.labels[i]}


class MeanPoolClassifier(nn.Module):
    def __init__(self, vocab=40, dim=16):
        super().__init__()
        self.emb, self.head = nn.Embedding(vocab, dim), nn.Linear(dim, 2)

    def forward(self, input_ids, attention_mask, labels=None):
        h = self.emb(input_ids)
        mask = attention_mask.unsqueeze(-1).float()
        logits = self.head((h * mask).sum(1) / mask.sum(1).clamp(min=1e-9))
        return logits, None if labels is None else nn.functional.cross_entropy(logits, labels)


def main():
    device = torch.device("cuda")
    model = MeanPoolClassifier().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    for batch in DataLoader(EncodedTexts(), batch_size=4, shuffle=True):
        ids, labels = batch["input_ids"].to(device), batch["labels"].to(device)
        _, loss = model(input_ids=ids, attention_mask=batch["attention_mask"], labels=labels)
        loss.backward()
        optimizer.step()
