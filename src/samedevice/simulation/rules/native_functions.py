"""What PyTorch's own table of operators says of each: does its CUDA wrapper check devices, and under which name?

The table is native_functions.yaml, which ships inside every torch wheel; so each torch version brings its own. It is
opened when the first mismatch is met, never before.
"""

import functools
import importlib.resources
import re
from dataclasses import dataclass
from typing import Any

import yaml

_loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Operator:
    """One entry of native_functions.yaml, by what matters for placement."""

    name: str
    overload: str
    structured: bool
    has_cuda_kernel: bool
    no_check: bool
    iterator: bool  # its checks are TensorIterator's
    kernels: dict[str, str]  # the C++ function for each dispatch key

    @property
    def is_checked(self) -> bool:
        """Whether the generated CUDA wrapper compares devices (torchgen/dest/register_dispatch_key.py)."""
        return self.has_cuda_kernel and not self.no_check

    def wrapper(self, out: bool) -> str:
        """The name of that wrapper, as its message prints it."""
        suffix = "_out" if out else ""
        if self.structured:
            return f"wrapper_CUDA_{self.name}{suffix}" + (f"_{self.overload}" if self.overload else "")
        return f"wrapper_CUDA_{self.overload}_{self.name}{suffix}"


@functools.cache
def _entries() -> dict[str, str]:
    """The text of each entry by its signature; only those that are asked for are read as YAML, which is slow."""
    path = importlib.resources.files("torchgen") / "packaged/ATen/native/native_functions.yaml"
    texts = re.split(r"^(?=- func: )", path.read_text("utf-8"), flags=re.M)[1:]
    return {text.removeprefix("- func: ").partition("(")[0]: text for text in texts}


def _entry(signature: str) -> dict[str, Any]:
    (entry,) = yaml.load(_entries()[signature], Loader=_loader)
    return entry


@functools.cache
def operator(signature: str) -> Operator | None:
    """The entry of an operator ("addmm", "add.Tensor"); None for one that torchgen makes or a library adds."""
    if signature not in _entries():
        return None
    entry = _entry(signature)
    name, _, overload = signature.partition(".")
    dispatch = entry.get("dispatch", {}).items()
    kernels = {key.strip(): function for keys, function in dispatch for key in keys.split(",")}
    parent = _entry(entry["structured_delegate"]) if "structured_delegate" in entry else entry
    structured = bool(entry.get("structured") or "structured_delegate" in entry)
    return Operator(
        name=name,
        overload=overload,
        structured=structured,
        has_cuda_kernel=structured or "CUDA" in kernels,
        no_check=entry.get("device_check") == "NoCheck",
        iterator=parent.get("structured_inherits") == "TensorIteratorBase",
        kernels=kernels,
    )
