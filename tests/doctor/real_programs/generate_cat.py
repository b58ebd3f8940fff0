# culprit: next_token
# cause: tensors_of_two_devices_joined | input_not_moved
import torch
from torch import nn


def top_k_sample(logits, k=5, temperature=0.8):
    logits = logits.float().cpu() / temperature
    values, _ = logits.topk(k)
    logits[logits < values[:, [-1]]] = -float("inf")
    return torch.multinomial(logits.softmax(-1), num_samples=1)


class GPT(nn.Module):
    def __init__(self, vocab=30, dim=16, block_size=8):
        super().__init__()
        self.block_size = block_size
        self.wte, self.wpe = nn.Embedding(vocab, dim), nn.Embedding(block_size, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 32), nn.GELU(), nn.Linear(32, dim))
        self.lm_head = nn.Linear(dim, vocab, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, idx):
        pos = torch.arange(idx.size(1), device=idx.device)
        h = self.wte(idx) + self.wpe(pos)
        return self.lm_head(h + self.mlp(h))

    @torch.no_grad()
    def generate(self, idx, max_new_tokens):
        for _ in range(max_new_tokens):
            logits = self(idx[:, -self.block_size :])[:, -1]
            next_token = top_k_sample(logits)
            idx = torch.cat((idx, next_token), dim=1)
        return idx


def main():
    device = "cuda"
    model = GPT().to(device).eval()
    context = torch.zeros((1, 1), dtype=torch.long, device=device)
    return model.generate(context, max_new_tokens=10)[0].tolist()
