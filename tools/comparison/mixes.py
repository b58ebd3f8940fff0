"""Lines that mix a GPU's and the CPU's tensors, and that PyTorch's CUDA build was recorded to refuse.

They are those of tests/conformance/questions whose only fault is the mix: with all of it on the CPU, the line works.
Lines that name CUDA itself, and compilers', are left out.
"""

import gzip
import json
import re
import types
from pathlib import Path
from typing import Any, NamedTuple

import torch

from record.errors import ABOUT_DEVICES, text
from record.questions import definitions

_RECORDED = Path(__file__).resolve().parents[2] / "tests/conformance/torch-2.13.0-questions.jsonl.gz"
_FAMILIES = {"everyday", "functional", "matrices", "elements", "modules", "sequences", "writes"}


class Mix(NamedTuple):
    """A line in which `g` makes tensors on the GPU and `c` on the CPU, and what CUDA says of it."""

    family: str
    line: str
    said: str


def mixes() -> list[Mix]:
    """Return the lines, in the order of the recording."""
    with gzip.open(_RECORDED, "rt", encoding="utf-8") as file:
        next(file)  # what was asked, and when
        rows = [json.loads(row) for row in file]
    return [
        Mix(row["family"], row["question"], row["message"])
        for row in rows
        if row["family"] in _FAMILIES
        and "error" in row
        and ABOUT_DEVICES.search(row["message"])
        and _mixes(row["question"])
        and tried(row["family"], row["question"], "cpu", "cpu") is None
    ]


def _mixes(line: str) -> bool:
    others = line.replace(".cuda()", "")
    on_gpu = others != line or re.search(r"\bg\(", line)
    return bool(on_gpu and re.search(r"\bc\(", line) and not re.search(r"\bh\(|cuda|jit|compile", others))


def tried(family: str, line: str, gpu: str, other: str) -> str | None:
    """Run the line with tensors on these devices; return the text of what it raises, None if it raises nothing."""
    scope: dict[str, Any] = vars(types.ModuleType(family))
    scope |= {"torch": torch, "nn": torch.nn, "F": torch.nn.functional}
    scope |= {"g": _ones(gpu), "c": _ones(other)}
    exec(definitions(family), scope)
    try:
        exec(line.replace(".cuda()", f'.to("{gpu}")'), scope)
    except Exception as error:
        return text(error)
    return None


def _ones(device: str) -> Any:
    return lambda *shape, **options: torch.ones(shape, device=device, **options)
