# culprit: self.generator
# cause: generator_device
import torch
from torch import nn


class NucleusSampler:
    def __init__(self, top_p=0.9, temperature=0.8, seed=0):
        self.top_p, self.temperature = top_p, temperature
        self.generator = torch.Generator()
        self.generator.manual_seed(seed)

    def filter(self, logits):
        sorted_logits, order = logits.sort(dim=-1, descending=True)
        mass = sorted_logits.softmax(-1).cumsum(-1)
        drop = mass - sorted_logits.softmax(-1) > self.top_p
        sorted_logits = sorted_logits.masked_fill(drop, float("-inf"))
        return torch.full_like(logits, float("-inf")).scatter(-1, order, sorted_logits)

    def __call__(self, logits):
        probs = self.filter(logits / self.temperature).softmax(-1)
        return torch.multinomial(probs, 1, generator=self.generator)


class CodecLM(nn.Module):
    def __init__(self, codes=64, dim=24):
        super().__init__()
        self.embed = nn.Embedding(codes, dim)
        self.rnn = nn.LSTM(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, codes)

    def step(self, code, state=None):
        h, state = self.rnn(self.embed(code), state)
        return self.head(h[:, -1]), state


@torch.inference_mode()
def generate(model, sampler, prompt, length):
    logits, state = model.step(prompt)
    codes = [prompt]
    for _ in range(length):
        nxt = sampler(logits)
        codes.append(nxt)
        logits, state = model.step(nxt, state)
    return torch.cat(codes, dim=1)


def main():
    device = torch.device("cuda")
    model = CodecLM().to(device).eval()
    prompt = torch.randint(0, 64, (2, 5), device=device)
    return generate(model, NucleusSampler(seed=42), prompt, 8).tolist()
