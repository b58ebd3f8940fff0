# culprit: mask
# cause: tensor_created_in_forward_without_device
import torch
import torch.nn as nn


class MaskedPool(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.proj = nn.Linear(dim, dim)

    def get_mask(self, x, lengths=None):
        if lengths is None:
            return torch.ones(x.shape[:2])
        idx = torch.arange(x.shape[1], device=x.device)
        return (idx[None] < lengths[:, None]).float()

    def forward(self, x, lengths=None):
        h = self.proj(x)
        mask = self.get_mask(h, lengths)
        h = h * mask.unsqueeze(-1)
        return h.sum(1) / mask.sum(1, keepdim=True)


def main():
    for dev in ("cuda", "cpu"):
        pool = MaskedPool(4).to(dev)
        x = torch.randn(2, 5, 4, device=dev)
        a = pool(x, torch.tensor([3, 5], device=dev))
        b = pool(x)
        assert a.device == b.device
