# culprit: sampler.alphas | self.alphas
# cause: library_bug
import sys
import tempfile
from pathlib import Path

import torch

LIBRARY = '''
import torch

class Sampler:
    def __init__(self, first):
        self.first = first

    def sample(self, noise, steps):
        self.alphas = torch.linspace(self.first, 0.5, steps).to(torch.device("cuda"))
        index = torch.zeros(1, dtype=torch.long, device=noise.device)
        return noise * self.alphas.index_select(0, index)
'''


def main():
    with tempfile.TemporaryDirectory() as folder:
        packages = Path(folder) / "site-packages"
        packages.mkdir()
        (packages / "samplers.py").write_text(LIBRARY)
        sys.path.insert(0, str(packages))
        try:
            import samplers

            render(samplers.Sampler(1), torch.device("cuda:1"))
        finally:
            sys.path.remove(str(packages))
            sys.modules.pop("samplers", None)


def render(sampler, device):
    noise = torch.ones(2, 2, device=device)
    image = sampler.sample(noise, 4)
    assert image.device == device and image.sum().item() == 4
