import torch
import torch.nn as nn
import torch.nn.functional as F


class TwoTower(nn.Module):
    def __init__(self, n_users, n_items, popularity, dim=12):
        super().__init__()
        self.user = nn.Embedding(n_users, dim)
        self.item = nn.Embedding(n_items, dim)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)
        self.log_popularity = torch.log(popularity)

    def score(self, users, items):
        return (self.user(users).unsqueeze(1) * self.item(items)).sum(-1)

    def loss(self, users, positives, negatives):
        items = torch.cat([positives.unsqueeze(1), negatives], dim=1)
        logits = self.score(users, items) - 0.1 * self.log_popularity[items]
        return F.cross_entropy(logits, torch.zeros_like(positives))

    def all_scores(self, users):
        return self.user(users) @ self.item.weight.T
