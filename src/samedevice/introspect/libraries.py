"""Whose a file is: the user's, PyTorch's, Python's own, another library's, or ours."""

import os
import sys
from pathlib import Path

OURS = str(Path(__file__).parents[1]) + os.sep
_SIMULATION = f"{OURS}simulation{os.sep}"
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_NO_FILE = ("<frozen ", "<__array_function__")  # Python's import system, NumPy's dispatcher
_STANDARD = str(Path(os.__file__).parent) + os.sep


def is_ours(file: str) -> bool:
    """Tell whether a file belongs to samedevice: its frames tell nothing about the program."""
    return file.startswith(OURS)


def is_simulation(file: str) -> bool:
    """Tell whether a file belongs to the simulation, which stands where on CUDA there is C++."""
    return file.startswith(_SIMULATION)


def is_torch(file: str) -> bool:
    """Tell whether a file belongs to PyTorch, if that is imported."""
    torch = sys.modules.get("torch")
    return bool(torch and torch.__file__ and file.startswith(str(Path(torch.__file__).parent) + os.sep))


def is_library(file: str) -> bool:
    """Tell whether a file is not the user's own."""
    return (
        any(part in file for part in (*_INSTALLED, *_NO_FILE)) or file.startswith((_STANDARD, OURS)) or is_torch(file)
    )


def is_third_party(file: str) -> bool:
    """Tell whether a file is of a library other than PyTorch, Python's own and ours."""
    return any(part in file for part in _INSTALLED) and not (is_ours(file) or is_torch(file))
