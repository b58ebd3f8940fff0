import torch


def ndcg_at_k(ranked_hits, k):
    discounts = 1.0 / torch.log2(torch.arange(k).float() + 2)
    dcg = (ranked_hits[:, :k] * discounts).sum(dim=1)
    return dcg.mean()


@torch.no_grad()
def evaluate(model, train_pairs, test_pairs, n_users, n_items, k=5):
    device = model.user.weight.device
    seen = torch.zeros(n_users, n_items, dtype=torch.bool)
    seen[train_pairs[:, 0], train_pairs[:, 1]] = True
    users = test_pairs[:, 0].to(device)
    scores = model.all_scores(users).masked_fill(seen[users], -1e9)
    top = scores.topk(k, dim=1).indices
    hits = (top == test_pairs[:, 1:].to(device)).float()
    return hits.sum(1).mean().item(), ndcg_at_k(hits, k).item()
