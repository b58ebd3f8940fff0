"""Which ways between an array, the CPU and a GPU share memory, and which copy.

Each line of the files in `shared_memory` is one way: where the result `y` is, whether it shares memory with the tensor
that it is made of, and the code, which is an expression, or statements that assign `y`. It begins with a NumPy array
`a`, a tensor `c` on the CPU or a tensor `g` on cuda:0; where another tensor is what is written to, it is `x`. Of a way
that PyTorch refuses, the error stands in the place of "shared". These answers are PyTorch's CUDA build's, which can be
asked without a GPU, because contiguous copies need no kernel: `tools/record/record.sh
.venv-torch-2.13.0/bin/python tests/simulation/shared_memory.py` asks it again, and prints what differs.
"""

import array
import copy
import io
import pickle
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - as everybody writes it
from torch import nn
from torch.cuda import comm
from torch.overrides import TorchFunctionMode
from torch.utils import data
from torch.utils._python_dispatch import TorchDispatchMode

FOLDER = Path(__file__).with_name("shared_memory")
STORAGES = torch.UntypedStorage, torch.TypedStorage


class Way(NamedTuple):
    """One line of the files."""

    source: str
    place: str
    kind: str
    code: str


def ways() -> Iterator[Way]:
    for name, source in (("arrays", "a"), ("cpu", "c"), ("gpu", "g")):
        for line in (FOLDER / f"{name}.txt").read_text("utf-8").splitlines():
            place, kind, code = line.split(maxsplit=2)
            yield Way(source, place, kind, code)


def saved(thing: Any, **options: Any) -> Any:
    file = io.BytesIO()
    torch.save(thing, file)
    file.seek(0)
    return torch.load(file, **options)


def lin(weight: torch.Tensor) -> nn.Linear:
    module = nn.Linear(2, 2, bias=False, device=weight.device)
    module.weight.data = weight.view(2, 2)
    return module


class Own(torch.Tensor):
    pass


class Seen(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class SeenFunctions(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class HasArray:
    """A sequence that NumPy knows how to read."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: int) -> Any:
        return self.values[index]


class HasDlpack:
    def __init__(self, values: Any) -> None:
        self.values = values

    def __dlpack__(self, **options: Any) -> Any:
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.values.__dlpack_device__()


class HasCudaArray:
    """An array on a GPU of a library that is not PyTorch."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor

    @property
    def __cuda_array_interface__(self) -> Any:
        return self.tensor.__cuda_array_interface__


NAMES = {
    "F": F, "HasArray": HasArray, "HasCudaArray": HasCudaArray, "HasDlpack": HasDlpack, "Own": Own, "Seen": Seen,
    "SeenFunctions": SeenFunctions, "array": array, "comm": comm, "copy": copy, "data": data, "lin": lin, "nn": nn,
    "np": np, "pickle": pickle, "saved": saved, "torch": torch,
}  # fmt: skip


def asked(way: Way) -> tuple[str, str]:
    """Run a way, write on each side and look at the other: where the result is, and "shared" or "copied"."""
    names = {
        **NAMES,
        "a": np.array([1, 2, 3, 4], dtype=np.float32),
        "c": torch.tensor([1.0, 2.0, 3.0, 4.0]),
        "g": torch.tensor([1.0, 2.0, 3.0, 4.0], device="cuda"),
    }
    try:
        if way.code.startswith("with ") or "y = " in way.code or way.code.startswith("x, y"):
            exec(way.code, names)
        else:
            expression, _, rest = way.code.partition("; ")
            names["y"] = eval(expression, names)
            exec(rest, names)
    except Exception as error:
        return "-", type(error).__name__
    finally:
        torch.set_default_device(None)
    x, y = names.get("x", names[way.source]), names["y"]
    if not isinstance(y, (np.ndarray, torch.Tensor, *STORAGES)):
        return "-", type(y).__name__
    _write(x, 7.0)
    forth = _look(y) == 7
    _write(x, 8.0)
    _write(y, 9.0)
    back = _look(x) == 9
    assert forth == back, f"{way.code} shows on one side alone what is written"
    return "numpy" if isinstance(y, np.ndarray) else str(y.device), "shared" if forth else "copied"


def _tensor(side: Any) -> Any:
    if isinstance(side, torch.TypedStorage):
        side = side._untyped_storage
    return torch.empty(0, device=side.device).set_(side, 0, (4,)) if isinstance(side, torch.UntypedStorage) else side


def _write(side: Any, value: float) -> None:
    if isinstance(side, np.ndarray):
        side[...] = value
    else:
        with torch.no_grad():
            _tensor(side).detach().copy_(torch.full(tuple(_tensor(side).shape), value))


def _look(side: Any) -> float:
    return float(side.flat[0]) if isinstance(side, np.ndarray) else _tensor(side).detach().cpu().flatten()[0].item()


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # what is deprecated is asked for, too
    for each in ways():
        answer = asked(each)
        if answer != (each.place, each.kind):
            print(*answer, each.code)
