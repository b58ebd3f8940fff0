# culprit: self.slopes
# cause: library_bug | unregistered_tensor_attribute
import sys
import tempfile
from pathlib import Path

import torch

LIBRARY = '''
import torch
from torch import nn

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.slopes = torch.linspace(0, 1, 4)

    def forward(self, x):
        return self.layer(x) + self.slopes
'''


def main():
    with tempfile.TemporaryDirectory() as folder:
        packages = Path(folder) / "site-packages"
        packages.mkdir()
        (packages / "encoders.py").write_text(LIBRARY)
        sys.path.insert(0, str(packages))
        try:
            import encoders

            embed(encoders.Encoder(), torch.device("cuda"))
        finally:
            sys.path.remove(str(packages))
            sys.modules.pop("encoders", None)


def embed(encoder, device):
    encoder.to(device)
    with torch.no_grad():
        vectors = encoder(torch.ones(2, 4, device=device))
    assert vectors.is_cuda and encoder.slopes.tolist()[-1] == 1
