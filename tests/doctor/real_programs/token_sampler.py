# culprit: self.temperature | self.temperature[:, None]
# cause: tensor_created_in_forward_without_device
import argparse
import torch
from torch import nn


class Sampler:
    def __init__(self, temperatures, top_k):
        self.temperature = torch.tensor(temperatures)
        self.top_k = top_k

    def __call__(self, logits):
        logits = logits / self.temperature[:, None]
        kth = logits.topk(self.top_k, dim=-1).values[:, -1:]
        logits = logits.masked_fill(logits < kth, float("-inf"))
        return torch.multinomial(logits.softmax(-1), 1)


class TinyLM(nn.Module):
    def __init__(self, vocab=20, dim=8):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        return self.head(self.embed(ids))


@torch.no_grad()
def generate(model, ids, sampler, steps):
    for _ in range(steps):
        logits = model(ids)[:, -1]
        ids = torch.cat([ids, sampler(logits)], dim=1)
    return ids


def main():
    args = argparse.Namespace(device="cuda", top_k=5, steps=3)
    model = TinyLM().to(args.device).eval()
    prompt = torch.randint(0, 20, (3, 4)).to(args.device)
    sampler = Sampler([0.7, 1.0, 1.3], args.top_k)
    return generate(model, prompt, sampler, args.steps)
