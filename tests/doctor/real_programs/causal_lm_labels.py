# culprit: shift_labels | shift_labels.view(-1) | labels
# cause: target_not_moved | split_model_activation_not_moved
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class CausalLMOutput:
    logits: torch.Tensor
    loss: torch.Tensor | None = None


class TinyCausalLM(nn.Module):
    def __init__(self, vocab=50, dim=16):
        super().__init__()
        self.wte = nn.Embedding(vocab, dim)
        self.block = nn.TransformerEncoderLayer(dim, 2, 32, dropout=0.0, batch_first=True)
        self.lm_head = nn.Linear(dim, vocab, bias=False)

    def parallelize(self):
        self.wte.to("cuda:0")
        self.block.to("cuda:0")
        self.lm_head.to("cuda:1")
        return self

    def forward(self, input_ids, labels=None):
        h = self.block(self.wte(input_ids))
        logits = self.lm_head(h.to(self.lm_head.weight.device))
        loss = None
        if labels is not None:
            shift_logits, shift_labels = logits[:, :-1].contiguous(), labels[:, 1:].contiguous()
            loss = nn.functional.cross_entropy(shift_logits.view(-1, logits.size(-1)), shift_labels.view(-1))
        return CausalLMOutput(logits, loss)


def main():
    model = TinyCausalLM().parallelize()
    ids = torch.randint(0, 50, (2, 8)).to("cuda:0")
    model(ids, labels=ids).loss.backward()
