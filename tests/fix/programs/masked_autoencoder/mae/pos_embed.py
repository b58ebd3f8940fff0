import numpy as np


def sincos_1d(dim, length):
    omega = 1.0 / 100 ** (np.arange(dim // 2, dtype=np.float32) / (dim / 2.0))
    out = np.einsum("m,d->md", np.arange(length, dtype=np.float32), omega)
    return np.concatenate([np.sin(out), np.cos(out)], axis=1).astype(np.float32)
