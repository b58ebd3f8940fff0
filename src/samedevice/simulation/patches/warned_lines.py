"""Warnings name the line of the program that they are about, as on CUDA, and not a line of the simulation.

C++ warns by PyErr_WarnEx (torch/csrc/Exceptions.cpp, PyWarningHandler), and Python shows a warning for the innermost
frame, which is one of the simulation's wherever it stands between the program and C++. That line is what filters by
module look at, and where Python remembers that it has warned already: a second warning, about another line of the
program, would be lost. Code of ours warns with `stacklevel=1`: its own line is replaced by the program's.

Nothing of this is done before something warns. Python then reads `warnings.filters` (Python/_warnings.c, get_filter).
While a simulation runs, that attribute is a property: read below a frame of the simulation, it begins with a filter
that matches what names the simulation, gives the same warning once more for the line of the program, and ignores the
first.
"""

import sys
import threading
import warnings
from types import FrameType, ModuleType
from typing import Any

import torch
from torch.autograd.function import Function

from samedevice.simulation.tensor import wrapping

_OURS = "samedevice.simulation."
_read = threading.local()


class _Warnings(ModuleType):
    """The class of the module `warnings` while a simulation runs."""

    @property
    def filters(self) -> list[Any]:
        filters: list[Any] = vars(self)["filters"]
        return [_FILTER, *filters] if _is_ours(sys._getframe(1)) else filters

    @filters.setter
    def filters(self, filters: list[Any]) -> None:
        vars(self)["filters"] = filters


def start() -> None:
    """Watch what names the simulation."""
    if type(warnings) is ModuleType:
        warnings.__class__ = _Warnings


def stop() -> None:
    """Give the module `warnings` its class back."""
    if type(warnings) is _Warnings:
        warnings.__class__ = ModuleType  # type: ignore[assignment]


# Python asks each filter for the text, then for the module, then for the class, whatever it has answered before.


class _Text:
    def match(self, text: str) -> bool:
        _read.text = text
        return True


class _Module:
    def match(self, module: str) -> bool:
        """Whether the simulation is named: it may have named the program's line itself, by its `stacklevel`."""
        _read.names_us = module.startswith(_OURS)
        return bool(_read.names_us)


class _Category:
    def __subclasscheck__(self, category: type[Warning]) -> bool:
        """Warn once more, of any class; an error that a filter makes of it leaves from here."""
        frame = sys._getframe(1)
        if not _read.names_us or not _is_ours(frame):
            return False
        if frame.f_globals is vars(wrapping) and torch.is_warn_always_enabled():
            return True  # C++ has warned of the tensor that is wrapped, and would only have done so once
        line = _line_of_the_program(frame)
        registry = line.f_globals.setdefault("__warningregistry__", {})
        module = line.f_globals.get("__name__", "<string>")
        warnings.warn_explicit(_read.text, category, line.f_code.co_filename, line.f_lineno, module, registry)
        return True


_FILTER = ("ignore", _Text(), _Category(), _Module(), 0)

# A copy from one device to another is C++ on CUDA, and a torch.autograd.Function here. From torch 2.14 on, this method
# is C++ too, and has no frame.
_APPLY = getattr(Function.apply, "__code__", None)


def _is_ours(frame: FrameType | None) -> bool:
    """Whether a frame is the simulation's; the second warning is given by this file, and is not to be taken again."""
    if frame is None or frame.f_globals is globals():
        return False
    return str(frame.f_globals.get("__name__", "")).startswith(_OURS)


def _line_of_the_program(frame: FrameType) -> FrameType:
    """Return the frame that called the simulation, which on CUDA would be the innermost."""
    outer = frame.f_back
    while outer is not None and (_is_ours(outer) or (outer.f_code is _APPLY and _is_ours(outer.f_back))):
        outer = outer.f_back
    return frame if outer is None else outer
