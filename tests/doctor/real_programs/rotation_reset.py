# culprit: self.relations.weight | model.relations.weight
# cause: tensor_created_in_forward_without_device
import math

import torch
from torch import nn


class RotatE(nn.Module):
    def __init__(self, entities, relations, size):
        super().__init__()
        self.size = size
        self.entities = nn.Embedding(entities, 2 * size)
        self.relations = nn.Embedding(relations, 2 * size)
        self.reset()

    def reset(self):
        nn.init.xavier_uniform_(self.entities.weight)
        phases = 2 * math.pi * torch.rand(self.relations.num_embeddings, self.size)
        rotations = torch.stack([phases.cos(), phases.sin()], dim=-1).detach()
        self.relations.weight.data = rotations.view(-1, 2 * self.size)

    def forward(self, triples):
        head, tail = self.entities(triples[:, 0]), self.entities(triples[:, 2])
        return (head * self.relations(triples[:, 1]) - tail).norm(dim=-1)


def main():
    model = RotatE(5, 2, 3).to("cuda")
    triples = torch.tensor([[0, 1, 2]], device="cuda")
    model(triples)
    model.reset()
    assert model(triples).is_cuda
    assert all(parameter.is_cuda for parameter in model.parameters())
