# culprit: eye
# cause: wrong_default_index
import torch
from torch import nn


class PairLoss(nn.Module):
    def forward(self, embeddings, labels):
        n = embeddings.size(0)
        same = labels[:, None] == labels[None]
        eye = torch.eye(n).cuda()
        pos = same.float() - eye
        margin = torch.full((n, 1), 0.5).cuda()
        dist = torch.cdist(embeddings, embeddings)
        neg = (1 - same.float()) * (margin - dist).clamp(min=0)
        return (pos * dist + neg).mean()


def main():
    device = torch.device("cuda:1")
    emb = torch.randn(6, 4, device=device, requires_grad=True)
    labels = torch.randint(0, 2, (6,), device=device)
    loss = PairLoss()(emb, labels)
    loss.backward()
    assert loss.device == device
