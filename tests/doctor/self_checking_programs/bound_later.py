# culprit: token
# cause: wrong_default_index | hardcoded_cuda
import torch
from torch import nn


class CharModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(9, 4)
        self.head = nn.Linear(4, 9)

    def generate(self, prefix, length):
        for character in prefix[:-1]:
            logits = self.head(self.embedding(torch.tensor([character], device=self.head.weight.device)))
        token = torch.tensor([prefix[-1]]).cuda()
        for _ in range(length):
            logits = self.head(self.embedding(token))
            token = logits.argmax(-1)
        return token


def main():
    model = CharModel().to("cuda:1")
    for prefix in ([1], [1, 2]):
        assert model.generate(prefix, 3).device == torch.device("cuda:1")
    assert CharModel().generate([1], 3).device == torch.device("cpu")
