# culprit: torch.arange(1, 4) | torch.arange(1, ranked.shape[1] + 1)
# cause: library_bug
import sys
import tempfile
from pathlib import Path

import torch

LIBRARY = '''
import torch

class ReciprocalRank:
    def update(self, ranked):
        return (ranked / torch.arange(1, ranked.shape[1] + 1)).max(1).values
'''


def main():
    with tempfile.TemporaryDirectory() as folder:
        packages = Path(folder) / "site-packages"
        packages.mkdir()
        (packages / "rankmetrics.py").write_text(LIBRARY)
        sys.path.insert(0, str(packages))
        try:
            import rankmetrics

            evaluate(rankmetrics.ReciprocalRank())
        finally:
            sys.path.remove(str(packages))
            sys.modules.pop("rankmetrics", None)


def evaluate(metric):
    device = torch.device("cuda:1")
    relevant = torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], device=device)
    ranks = metric.update(relevant)
    assert ranks.tolist() == [0.5, 1.0] and ranks.device == device
