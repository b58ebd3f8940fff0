import math

import torch
from torch.nn import Module, Parameter


class GraphConvolution(Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight = Parameter(torch.empty(in_features, out_features))
        self.bias = Parameter(torch.empty(out_features))
        stdv = 1.0 / math.sqrt(out_features)
        self.weight.data.uniform_(-stdv, stdv)
        self.bias.data.uniform_(-stdv, stdv)

    def forward(self, x, adj):
        return torch.sparse.mm(adj, x @ self.weight) + self.bias
