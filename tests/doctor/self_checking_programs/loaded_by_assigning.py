# culprit: self.table.weight
# cause: model_not_moved | model_moved_by_saving
import torch
from torch import nn


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(6, 4)

    def forward(self, words):
        return self.table(words).sum(-1)


class Server:
    def __init__(self, device):
        self.device = device
        self.scorer = Scorer().to(device).eval()

    def update(self, weights):
        self.scorer.load_state_dict(weights, assign=True)

    def answer(self, words):
        with torch.no_grad():
            return self.scorer(torch.tensor(words, device=self.device)).tolist()


def main():
    server, newer = Server("cuda"), Scorer()
    server.answer([1, 2])
    server.update(newer.state_dict())
    assert server.answer([1, 2]) == newer(torch.tensor([1, 2])).tolist()
    assert all(parameter.is_cuda for parameter in server.scorer.parameters())
