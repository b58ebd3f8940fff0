"""What moved between devices while a script ran: `samedevice run --summary`.

A copy is counted where the simulation makes it on another device: moving.py does for `.to`, `.cuda`, `.cpu` and
gradients on their way back, judgement.py for `copy_` and for indices that CUDA lets come from the CPU. Operators whose
tensors are together come through neither, so counting costs them nothing.
"""

import functools
import sys
import threading
from collections import Counter
from pathlib import Path

import torch

from samedevice.introspect.libraries import is_library
from samedevice.plurals import counted
from samedevice.simulation import state
from samedevice.simulation.device import devices
from samedevice.simulation.device.devices import device_of

_lock = threading.Lock()
# The first two are by source and target, the third by source, target, file and line.
_tensors: Counter[tuple[str, str]] = Counter()
_bytes: Counter[tuple[str, str]] = Counter()
_places: Counter[tuple[str, str, str, int]] = Counter()


def count() -> None:
    """Count from now on, as long as the running simulation lasts."""
    state.now.on_copy.append(_note)


def summary() -> list[str]:
    """Return what was counted, in lines."""
    if not devices.used():
        return ["no GPU was used: everything ran on the CPU."]
    if not _tensors:
        return ["no tensor moved between devices."]
    lines = ["moved between devices:"]
    for direction, tensors in _tensors.most_common():
        (*_, file, line), most = next(item for item in _places.most_common() if item[0][:2] == direction)
        share = "" if most == tensors else f"{most:,} of them "
        lines.append(
            f"{direction[0]} to {direction[1]}: {counted(tensors, 'tensor')}, "
            f"{_size(_bytes[direction])}; {share}at {_shown(file)}, line {line}"
        )
    return lines


def _note(tensor: torch.Tensor, device: torch.device) -> None:
    direction = str(device_of(tensor)), str(device)
    elements = tensor.numel() if tensor.layout is torch.strided else tensor._nnz()
    frame = sys._getframe(2)
    while frame.f_back is not None and _is_passed_over(frame.f_code.co_filename):
        frame = frame.f_back
    with _lock:
        _tensors[direction] += 1
        _bytes[direction] += elements * tensor.element_size()
        _places[*direction, frame.f_code.co_filename, frame.f_lineno] += 1


@functools.cache
def _is_passed_over(file: str) -> bool:
    """Tell whether a file holds no line of the program: it is a library's, or what exec() runs, which is no file."""
    return is_library(file) or (file.startswith("<") and file.endswith(">") and file != "<stdin>")


def _shown(file: str) -> str:
    return "standard input" if file == "<stdin>" else Path(file).name


def _size(number: float) -> str:
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:,.3g} GB"
