# culprit: src_key_padding_mask | pad_mask
# cause: input_not_moved
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


def collate_fn(batch):
    texts, labels = zip(*batch)
    ids = pad_sequence(texts, batch_first=True, padding_value=0)
    return ids, ids == 0, torch.tensor(labels)


class Classifier(nn.Module):
    def __init__(self, vocab=40, dim=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=0)
        layer = nn.TransformerEncoderLayer(dim, 2, 32, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.fc = nn.Linear(dim, 2)

    def forward(self, ids, pad_mask):
        h = self.encoder(self.embed(ids), src_key_padding_mask=pad_mask)
        return self.fc(h[:, 0])


def main():
    device = torch.device("cuda")
    data = [(torch.randint(1, 40, (3 + i % 5,)), i % 2) for i in range(12)]
    loader = DataLoader(data, batch_size=4, shuffle=True, collate_fn=collate_fn)
    model = Classifier().to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for ids, pad_mask, labels in loader:
        ids = ids.to(device)
        labels = labels.to(device)
        optimizer.zero_grad()
        loss = criterion(model(ids, pad_mask), labels)
        loss.backward()
        optimizer.step()
