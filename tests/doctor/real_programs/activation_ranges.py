# culprit: magnitudes
# cause: numpy_conversion
from collections import defaultdict
import numpy as np
import torch
from torch import nn


class RangeObserver:
    """Collects clipping ranges for int8 calibration through forward hooks."""

    def __init__(self, model, percentile=99.9):
        self.percentile = percentile
        self.ranges = defaultdict(list)
        self.handles = [m.register_forward_hook(self.make_hook(name))
                        for name, m in model.named_modules() if isinstance(m, nn.Linear)]

    def make_hook(self, name):
        def hook(module, args, output):
            magnitudes = output.detach().abs().flatten()
            self.ranges[name].append(np.percentile(magnitudes, self.percentile))
        return hook

    def scales(self):
        return {name: float(np.max(r)) / 127 for name, r in self.ranges.items()}

    def close(self):
        for handle in self.handles:
            handle.remove()


def main():
    model = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 8))
    model = model.to("cuda").eval()
    observer = RangeObserver(model)
    with torch.inference_mode():
        for _ in range(3):
            model(torch.randn(16, 8, device="cuda"))
    observer.close()
    return observer.scales()
