"""The programs that fail, as `@broken` keeps them, and what many of them use."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass(frozen=True)
class Broken:
    run: Callable[[], object]
    cause: str
    culprit: str


PROGRAMS: dict[str, Broken] = {}


def broken(cause: str, culprit: str) -> Callable[[Callable[[], object]], Callable[[], object]]:
    def keep(run: Callable[[], object]) -> Callable[[], object]:
        PROGRAMS[run.__name__] = Broken(run, cause, culprit)
        return run

    return keep


def classifier() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))


def loader() -> DataLoader:
    return DataLoader(TensorDataset(torch.randn(16, 8), torch.randint(4, (16,))), batch_size=8)
