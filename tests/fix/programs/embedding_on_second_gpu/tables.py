import torch
import torch.nn as nn


class SplitEmbedding(nn.Module):
    """Small tables stay on the dense part's GPU; the big one has a GPU of its own."""

    def __init__(self, sizes, dim, dense_device, table_device):
        super().__init__()
        self.dense_device, self.table_device = dense_device, table_device
        big = max(range(len(sizes)), key=lambda i: sizes[i])
        self.tables = nn.ModuleList(
            nn.EmbeddingBag(n, dim, mode="mean").to(table_device if i == big else dense_device) for i, n in enumerate(sizes)
        )

    def forward(self, ids):
        pooled = []
        for i, table in enumerate(self.tables):
            bag = ids[:, i]
            pooled.append(table(bag))
        return torch.cat(pooled, dim=1)
