import numpy as np


class EpisodeSampler:
    """N-way episodes of a NumPy data set."""

    def __init__(self, images, labels, way, shot, query, seed=0):
        self.images, self.labels = images, labels
        self.way, self.shot, self.query = way, shot, query
        self.rng = np.random.default_rng(seed)

    def episode(self):
        classes = self.rng.choice(np.unique(self.labels), self.way, replace=False)
        support, query = [], []
        for c in classes:
            idx = self.rng.permutation(np.flatnonzero(self.labels == c))
            support.append(self.images[idx[: self.shot]])
            query.append(self.images[idx[self.shot : self.shot + self.query]])
        return classes, np.stack(support), np.stack(query)
