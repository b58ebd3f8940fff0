# culprit: mask | lengths
# cause: input_not_moved
import torch
from torch import nn
from torch.utils.data import DataLoader


def sequence_mask(lengths, max_len):
    ids = torch.arange(max_len, device=lengths.device)
    return ids[None, :] < lengths[:, None]


class Pooler(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(3, 3)

    def forward(self, x, lengths):
        h = self.proj(x)
        mask = sequence_mask(lengths, h.shape[1])
        h = h.masked_fill(~mask.unsqueeze(-1), 0.0)
        return h.sum(1)


def train_epoch(model, loader, device):
    total = 0.0
    for batch in loader:
        x, lengths = batch["x"].to(device), batch["lengths"]
        total += model(x, lengths).sum()
    return total


def main():
    data = [{"x": torch.randn(5, 3), "lengths": torch.tensor(i % 4 + 1)} for i in range(6)]
    for dev in ("cuda", "cpu"):
        total = train_epoch(Pooler().to(dev), DataLoader(data, batch_size=3), torch.device(dev))
        assert total.device.type == dev
