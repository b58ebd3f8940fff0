# culprit: anchors | torch.arange(len(distances))
# cause: tensor_created_in_forward_without_device
import torch
from torch import nn
from torch.nn import functional as F


class Miner(nn.Module):
    def forward(self, embeddings, labels):
        labels = labels.to(embeddings.device)
        with torch.no_grad():
            triplets = self.mine(F.normalize(embeddings), labels)
        return triplets

    def mine(self, embeddings, labels):
        distances = torch.cdist(embeddings, embeddings)
        same = labels[:, None] == labels[None]
        hardest = (distances * same).argmax(1)
        easiest = distances.masked_fill(same, 9.0).argmin(1)
        return torch.arange(len(distances)), hardest, easiest


def main():
    embeddings, labels = torch.randn(6, 4), torch.tensor([0, 0, 1, 1, 2, 2])
    anchors, positives, negatives = Miner()(embeddings.to("cuda"), labels)
    triplets = torch.stack([anchors, positives, negatives])
    assert torch.equal(triplets.cpu(), torch.stack(Miner()(embeddings, labels)))
