import numpy as np
import torch


def sparse_mx(n, edges):
    """The symmetric, normalised adjacency matrix with self loops, as a sparse tensor."""
    dense = np.eye(n, dtype=np.float32)
    dense[edges[:, 0], edges[:, 1]] = dense[edges[:, 1], edges[:, 0]] = 1
    scale = 1 / np.sqrt(dense.sum(1))
    dense = dense * scale[:, None] * scale[None]
    rows, cols = np.nonzero(dense)
    indices = torch.from_numpy(np.stack([rows, cols]).astype(np.int64))
    return torch.sparse_coo_tensor(indices, torch.from_numpy(dense[rows, cols]), (n, n)).coalesce()


def load_data(n=50, classes=3, seed=42):
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, classes, n)
    edges = rng.randint(0, n, (400, 2))
    edges = edges[(labels[edges[:, 0]] == labels[edges[:, 1]]) | (rng.rand(400) < 0.1)]
    features = rng.randn(n, 6).astype(np.float32) + 0.5 * np.eye(classes, 6, dtype=np.float32)[labels]
    order = torch.from_numpy(rng.permutation(n))
    return sparse_mx(n, edges), torch.from_numpy(features), torch.from_numpy(labels), order[:20], order[20:]


def class_weights(labels, idx):
    counts = torch.bincount(labels[idx]).float()
    return counts.sum() / (len(counts) * counts)


def accuracy(output, labels):
    return (output.argmax(1) == labels).double().sum() / len(labels)
