# culprit: np.linspace(0.0, 1.0, x.shape[-1])
# cause: numpy_conversion
import numpy as np
import torch as th


def fade(x):
    return x * np.linspace(0.0, 1.0, x.shape[-1])


def main():
    faded = fade(th.ones(2, 5, device="cuda"))
    assert (faded.device.type, faded.dtype, float(faded[0, 2])) == ("cuda", th.float32, 0.5)
