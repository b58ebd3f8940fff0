# culprit: self.hits
# cause: metric_or_accumulator_state
import torch
from torch import nn


class TwoTower(nn.Module):
    def __init__(self, users, items, dim=16):
        super().__init__()
        self.user = nn.Embedding(users, dim)
        self.item = nn.Embedding(items, dim)

    def scores(self, user_ids):
        return self.user(user_ids) @ self.item.weight.T


class RecallAtK:
    def __init__(self, n_users, k=10):
        self.k = k
        self.hits = torch.zeros(n_users)
        self.seen = 0

    def update(self, user_ids, scores, positives):
        top = scores.topk(self.k, dim=1).indices
        hit = (top == positives[:, None]).any(1).float()
        self.hits.index_add_(0, user_ids, hit)
        self.seen += user_ids.numel()

    def compute(self):
        return self.hits.sum().item() / max(self.seen, 1)


def minibatches(n, size, device):
    for start in range(0, n, size):
        users = torch.arange(start, min(start + size, n), device=device)
        yield users, torch.randint(0, 50, users.shape, device=device)


@torch.no_grad()
def main():
    device = torch.device("cuda:0")
    model = TwoTower(40, 50).to(device).eval()
    metric = RecallAtK(40)
    for users, positives in minibatches(40, 16, device):
        metric.update(users, model.scores(users), positives)
    return metric.compute()
