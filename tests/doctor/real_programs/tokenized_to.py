# culprit: input_ids | batch["input_ids"] | batch
# cause: in_place_or_copy
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocab=50, dim=8, n_labels=3):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.head = nn.Linear(dim, n_labels)

    def forward(self, input_ids, attention_mask, labels=None):
        h = self.embed(input_ids)
        mask = attention_mask.unsqueeze(-1).float()
        logits = self.head((h * mask).sum(1) / mask.sum(1))
        loss = None if labels is None else nn.functional.cross_entropy(logits, labels)
        return loss, logits


class Trainer:
    def __init__(self, model, device):
        self.device = device
        self.model = model.to(device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=5e-5)

    def fit(self, batches):
        for batch in batches:
            for key in batch:
                batch[key].to(self.device)
            loss, _ = self.model(**batch)
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()


def main():
    batches = [
        {
            "input_ids": torch.randint(0, 50, (4, 7)),
            "attention_mask": torch.ones(4, 7, dtype=torch.long),
            "labels": torch.randint(0, 3, (4,)),
        }
        for _ in range(2)
    ]
    Trainer(Encoder(), torch.device("cuda")).fit(batches)
