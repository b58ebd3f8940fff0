# culprit: grad_table
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn

PRIMES = (1, 2654435761, 805459861)


def spatial_hash(cells, size):
    h = cells[:, 0] * PRIMES[0]
    for axis in (1, 2):
        h = h ^ (cells[:, axis] * PRIMES[axis])
    return h % size


class HashLookup(torch.autograd.Function):
    @staticmethod
    def forward(ctx, table, index):
        ctx.save_for_backward(index)
        ctx.table_shape = table.shape
        return table[index]

    @staticmethod
    def backward(ctx, grad_output):
        index, = ctx.saved_tensors
        grad_table = torch.zeros(ctx.table_shape, dtype=grad_output.dtype)
        grad_table.index_add_(0, index, grad_output)
        return grad_table, None


class HashField(nn.Module):
    def __init__(self, size=512, features=4, levels=(4, 8, 16)):
        super().__init__()
        self.levels, self.size = levels, size
        self.tables = nn.ParameterList(nn.Parameter(torch.randn(size, features) * 1e-2) for _ in levels)
        self.mlp = nn.Sequential(nn.Linear(features * len(levels), 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, xyz):
        feats = []
        for table, res in zip(self.tables, self.levels):
            index = spatial_hash((xyz * res).long(), self.size)
            feats.append(HashLookup.apply(table, index))
        return self.mlp(torch.cat(feats, -1)).squeeze(-1)


def main():
    device = torch.device("cuda")
    field = HashField().to(device)
    optimizer = torch.optim.Adam(field.parameters(), lr=1e-2)
    xyz = torch.rand(64, 3, device=device)
    sdf = (xyz - 0.5).norm(dim=-1) - 0.3
    loss = (field(xyz) - sdf).abs().mean()
    loss.backward()
    optimizer.step()
