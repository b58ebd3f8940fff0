import torch
import torch.nn.functional as F


def batch_hard_triplet_loss(labels, embeddings, margin=0.3):
    dist = torch.cdist(embeddings, embeddings)
    same = labels.unsqueeze(0) == labels.unsqueeze(1)
    not_self = ~torch.eye(labels.size(0), dtype=torch.bool)
    hardest_positive = (dist * (same & not_self)).max(dim=1).values
    hardest_negative = dist.masked_fill(same, float("inf")).min(dim=1).values
    return F.relu(hardest_positive - hardest_negative + margin).mean()
