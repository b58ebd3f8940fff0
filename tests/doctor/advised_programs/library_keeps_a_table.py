# culprit: freqs | table
# cause: library_bug
import sys
import tempfile
from pathlib import Path

import torch
from torch import nn

LIBRARY = """
import torch
from torch import nn

class Rotary(nn.Module):
    def __init__(self):
        super().__init__()
        self.cached = None

    def table(self, x):
        if self.cached is None:
            self.cached = torch.ones(8, x.shape[-1], device=x.device)
        return self.cached[: x.shape[0]]

    def forward(self, x):
        table = self.table(x)
        return x * table
"""


class Attention(nn.Module):
    def __init__(self, rotary):
        super().__init__()
        self.rotary, self.out = rotary, nn.Linear(2, 2)

    def forward(self, x):
        return self.out(self.rotary(x))


def main():
    with tempfile.TemporaryDirectory() as folder:
        packages = Path(folder) / "site-packages"
        packages.mkdir()
        (packages / "rotaries.py").write_text(LIBRARY)
        sys.path.insert(0, str(packages))
        try:
            import rotaries

            count_and_train(Attention(rotaries.Rotary()))
        finally:
            sys.path.remove(str(packages))
            sys.modules.pop("rotaries", None)


def count_and_train(model):
    model(torch.ones(3, 2))  # on the CPU, to count its operations
    model.to("cuda")
    model(torch.ones(3, 2, device="cuda"))
