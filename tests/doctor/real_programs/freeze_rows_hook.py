# culprit: mask | row_mask(len(weight), new_rows)
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn

SPECIAL = ["<image>", "<audio>", "<tool>"]


def row_mask(n_rows, trainable):
    mask = torch.zeros(n_rows, 1)
    mask[list(trainable)] = 1.0
    return mask


def train_only(weight, new_rows):
    mask = row_mask(len(weight), new_rows)

    def hook(grad):
        return grad * mask

    return weight.register_hook(hook)


class TinyLM(nn.Module):
    def __init__(self, vocab=40, dim=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, vocab, bias=False)

    def forward(self, ids):
        h, _ = self.rnn(self.embed(ids))
        return self.head(h)


def extend_vocab(model, n_new):
    old = model.embed.weight.data
    vocab, dim = old.shape
    embed = nn.Embedding(vocab + n_new, dim, device=old.device)
    embed.weight.data[:vocab] = old
    model.embed = embed
    return range(vocab, vocab + n_new)


def main():
    device = torch.device("cuda")
    model = TinyLM().to(device)
    rows = extend_vocab(model, len(SPECIAL))
    handle = train_only(model.embed.weight, rows)
    optimizer = torch.optim.SGD([model.embed.weight], lr=0.1)
    ids = torch.randint(0, 40, (2, 8), device=device)
    ids[:, 0] = rows[0]
    loss = nn.functional.cross_entropy(model(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    handle.remove()
