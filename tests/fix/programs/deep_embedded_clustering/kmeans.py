import numpy as np


def kmeans(x, k, iters=10, seed=0):
    rng = np.random.default_rng(seed)
    centers = x[rng.choice(len(x), k, replace=False)]
    for _ in range(iters):
        labels = ((x[:, None] - centers[None]) ** 2).sum(-1).argmin(1)
        centers = np.stack([x[labels == j].mean(0) if (labels == j).any() else centers[j] for j in range(k)])
    return labels, centers.astype(np.float32)
