# culprit: word
# cause: split_model_activation_not_moved | tensors_of_two_devices_joined
import torch
from torch import nn


class Split(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.head = nn.Embedding(9, 4), nn.Linear(4, 9)

    def over(self, first, second):
        self.words.to(first)
        self.head.to(second)
        return self

    def next_word(self, ids):
        hidden = self.words(ids).mean(1)
        return self.head(hidden.to(self.head.weight.device)).argmax(-1, keepdim=True)

    @torch.no_grad()
    def generate(self, ids, count):
        for _ in range(count):
            word = self.next_word(ids)
            ids = torch.cat([ids, word], dim=1)
        return ids


def main():
    prompt = torch.tensor([[1, 2]])
    model = Split()
    expected = model.generate(prompt, 3)
    ids = model.over("cuda:0", "cuda:1").generate(prompt.to("cuda:0"), 3)
    assert ids.device == torch.device("cuda:0") and torch.equal(ids.cpu(), expected)
