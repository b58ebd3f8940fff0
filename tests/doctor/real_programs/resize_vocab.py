# culprit: self.embed | self.embed.weight
# cause: registered_after_move
import torch
from torch import nn


class TextModel(nn.Module):
    def __init__(self, vocab, dim=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.LSTM(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, 2)

    def forward(self, ids):
        out, _ = self.rnn(self.embed(ids))
        return self.head(out[:, -1])

    def resize_token_embeddings(self, new_size):
        old = self.embed
        self.embed = nn.Embedding(new_size, old.embedding_dim)
        with torch.no_grad():
            self.embed.weight[:old.num_embeddings].copy_(old.weight)


def main():
    device = torch.device("cuda:0")
    vocab = {f"tok{i}": i for i in range(20)}
    model = TextModel(len(vocab)).to(device)
    for special in ("<user>", "<bot>"):
        vocab[special] = len(vocab)
    model.resize_token_embeddings(len(vocab))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(2):
        ids = torch.randint(0, len(vocab), (4, 6), device=device)
        labels = torch.randint(0, 2, (4,), device=device)
        loss = nn.functional.cross_entropy(model(ids), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
