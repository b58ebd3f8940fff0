"""Whose a file is: the user's, PyTorch's, Python's own, another library's, or ours.

One definition for programs that run and for pasted tracebacks: a library is what was installed, whatever it is called.
A checkout of a library is the code of who works in it. A running program knows more, such as where its PyTorch is; a
paste may show a path in part (`samedevice.doctor.text.traceback`).
"""

import os
import re
import sys
from pathlib import Path

OURS = str(Path(__file__).parents[1]) + os.sep
_SIMULATION = f"{OURS}simulation{os.sep}"
_STANDARD = str(Path(os.__file__).parent) + os.sep

_PACKAGES = re.compile(r"(?:^|/)(?:site|dist)-packages/(?:(?P<name>[A-Za-z_]\w*))?", re.ASCII)
# Code that came with a model's weights (`trust_remote_code`): huggingface/modules/transformers_modules/ORG/MODEL/HASH/
_OF_A_MODEL = re.compile(
    r"(?:^|/)transformers_modules/(?P<name>(?:[\w.-]{1,100}/){1,2}?)(?:[0-9a-f]{8,40}/|[\w.-]{1,100}\.py$)", re.ASCII
)
_GENERATED = re.compile(r"^<(?:frozen|__array)")  # Python's import system, NumPy's dispatcher


def is_installed(path: str) -> bool:
    """Tell whether a path, as a traceback shows it, is that of an installed package or of a model's code.

    Args:
        path: with forward slashes.

    Example:
        >>> is_installed("/env/lib/python3.12/site-packages/peft/tuners/lora/layer.py")
        True
        >>> is_installed("/home/me/peft/src/peft/tuners/lora/layer.py")
        False
    """
    return any(known.search(path) for known in (_PACKAGES, _OF_A_MODEL, _GENERATED))


def package(path: str) -> str:
    """Return the installed package, or the model, that a path belongs to, other than PyTorch; "" for any other file.

    Args:
        path: with forward slashes.

    Example:
        >>> package("/env/lib/python3.12/site-packages/peft/tuners/lora/layer.py")
        'peft'
        >>> package("~/.cache/huggingface/modules/transformers_modules/THUDM/chatglm2-6b/modeling_chatglm.py")
        'THUDM/chatglm2-6b'
    """
    found = list(_PACKAGES.finditer(path))  # an environment may stand inside another one
    if found:
        name = found[-1]["name"] or ""
        return "" if name in ("torch", "functorch") else name
    model = _OF_A_MODEL.search(path)
    return model["name"].rstrip("/").replace("_hyphen_", "-").replace("_dot_", ".") if model is not None else ""


def is_model(path: str) -> bool:
    """Tell whether a path is that of code that came with a model's weights."""
    return _OF_A_MODEL.search(path) is not None and _PACKAGES.search(path) is None


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
    """Tell whether a file of this machine is not the user's own."""
    return is_installed(file.replace(os.sep, "/")) or file.startswith((_STANDARD, OURS)) or is_torch(file)


def is_third_party(file: str) -> bool:
    """Tell whether a file of this machine is of a library other than PyTorch, Python's own and ours."""
    return bool(package(file.replace(os.sep, "/"))) and not (is_ours(file) or is_torch(file))
