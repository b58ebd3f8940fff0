# culprit: block.aux_loss
# cause: split_model_activation_not_moved
import torch
from torch import nn


class MoEBlock(nn.Module):
    def __init__(self, dim=16, experts=4):
        super().__init__()
        self.router = nn.Linear(dim, experts)
        self.experts = nn.ModuleList(nn.Linear(dim, dim) for _ in range(experts))
        self.aux_loss = None

    def forward(self, x):
        probs = self.router(x).softmax(-1)
        gate, choice = probs.max(-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            picked = choice == i
            out[picked] = gate[picked].unsqueeze(-1) * expert(x[picked])
        load = nn.functional.one_hot(choice, len(self.experts)).float().mean(0)
        self.aux_loss = len(self.experts) * (load * probs.mean(0)).sum()
        return x + out


class SparseLM(nn.Module):
    def __init__(self, vocab=64, dim=16, devices=("cuda:0", "cuda:1")):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim).to(devices[0])
        self.blocks = nn.ModuleList(MoEBlock(dim).to(d) for d in devices)
        self.head = nn.Linear(dim, vocab).to(devices[-1])

    def forward(self, ids):
        x = self.embed(ids).flatten(0, 1)
        for block in self.blocks:
            x = block(x.to(block.router.weight.device))
        return self.head(x)


def training_loss(model, ids, coef=0.01):
    logits = model(ids[:, :-1])
    loss = nn.functional.cross_entropy(logits, ids[:, 1:].flatten().to(logits.device))
    for block in model.blocks:
        loss = loss + coef * block.aux_loss
    return loss


def main():
    model = SparseLM()
    ids = torch.randint(0, 64, (2, 9), device="cuda:0")
    loss = training_loss(model, ids)
    loss.backward()
