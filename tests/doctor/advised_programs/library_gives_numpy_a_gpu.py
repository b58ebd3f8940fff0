# culprit: found[0]["boxes"]
# cause: numpy_conversion
import sys
import tempfile
from pathlib import Path

import torch

LIBRARY = """
import numpy as np

class Evaluator:
    def process(self, samples, found):
        for sample, each in zip(samples, found):
            self.compare(each["boxes"], sample["boxes"])

    def compare(self, boxes, truth):
        boxes, truth = np.asarray(boxes), np.asarray(truth)
        return boxes - truth
"""


def main():
    with tempfile.TemporaryDirectory() as folder:
        packages = Path(folder) / "site-packages"
        packages.mkdir()
        (packages / "evaluators.py").write_text(LIBRARY)
        sys.path.insert(0, str(packages))
        try:
            import evaluators

            evaluate(evaluators.Evaluator())
        finally:
            sys.path.remove(str(packages))
            sys.modules.pop("evaluators", None)


def evaluate(evaluator):
    sample = {"image": torch.ones(2, 2, device="cuda"), "boxes": torch.ones(1, 4)}
    found = [{"boxes": torch.ones(1, 4, device="cuda"), "scores": torch.ones(1, device="cuda")}]
    evaluator.process([sample], found)
