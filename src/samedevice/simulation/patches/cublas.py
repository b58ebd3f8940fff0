"""What a program chooses for cuBLAS: TunableOp, which times its kernels (torch.cuda.tunable), and its workspaces.

The CPU computes here, so nothing is tuned and no workspace is taken. Choices are kept and read back, as
torch/csrc/cuda/Module.cpp and ATen/cuda/tunable/Tunable.cpp keep them, until the simulation ends.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from samedevice.simulation.device import devices
from samedevice.simulation.device.properties import CudaDeviceProperties

_WORKSPACE = 4096 * 1024 * 2 + 16 * 1024 * 8  # bytes; ATen/cuda/CublasHandlePool.cpp, for GPUs before Hopper
_LT_WORKSPACE = 2**20


def replacements() -> Iterator[tuple[object, str, object]]:
    for name, function in {**_tunable(), **_workspaces()}.items():
        yield torch._C, f"_cuda_{name}", function


def _tunable() -> dict[str, Callable[..., Any]]:
    chosen: dict[str, Any] = {
        "tunableop_is_enabled": False, "tunableop_tuning_is_enabled": True, "record_untuned_is_enabled": False,
        "tunableop_get_max_tuning_duration": 30, "tunableop_get_max_tuning_iterations": 100,
        "tunableop_get_filename": "", "tunableop_get_rotating_buffer_size": CudaDeviceProperties.L2_cache_size,
    }  # fmt: skip

    def reader(name: str) -> Callable[[], Any]:
        return lambda: chosen[name]

    def switch(name: str) -> Callable[[bool], None]:
        setter = name.replace("is_enabled", "enable")

        def choose(value: bool) -> None:
            chosen[name] = _expect(setter, value, bool)

        return choose

    def limit(setter: str, getter: str) -> Callable[[int], None]:
        def choose(value: int) -> None:
            chosen[getter] = max(0, _expect(setter, value, int))

        return choose

    def set_filename(filename: str, insert_device_ordinal: bool) -> None:
        name = _expect("tunableop_set_filename", filename, str)
        if _expect("tunableop_set_filename", insert_device_ordinal, bool):
            ordinal = str(devices.current())
            stem, dot, suffix = name.rpartition(".")
            if "%d" in name:
                name = name.replace("%d", ordinal, 1)
            else:
                name = f"{stem}{ordinal}{dot}{suffix}" if dot else name + ordinal
        chosen["tunableop_get_filename"] = name

    def set_buffer_size(megabytes: int) -> None:
        size = _expect("tunableop_set_rotating_buffer_size", megabytes, int) * 2**20
        chosen["tunableop_get_rotating_buffer_size"] = size if size >= 0 else CudaDeviceProperties.L2_cache_size

    return {
        **{name: reader(name) for name in chosen},
        **{name.replace("is_enabled", "enable"): switch(name) for name in chosen if name.endswith("is_enabled")},
        **{
            name.replace("_get_", "_set_"): limit(name.replace("_get_", "_set_"), name)
            for name in chosen
            if "_max_" in name
        },
        "tunableop_set_filename": set_filename,
        "tunableop_set_rotating_buffer_size": set_buffer_size,
        "tunableop_set_numerical_check_tolerances": _set_tolerances,
        "tunableop_get_results": lambda: (),
        "tunableop_get_validators": lambda: (("PT_VERSION", torch.__version__.split("+")[0]),),
        "tunableop_read_file": _read_file,
    }


def _set_tolerances(*args: Any) -> None:
    if not 1 <= len(args) <= 3:
        raise RuntimeError("cuda_tunableop_set_numerical_check_tolerances expects (bool[, float[, float]])")
    enabled, *tolerances = args
    if type(enabled) is not bool:
        raise RuntimeError(f"First argument must be a boolean, got {type(enabled).__name__}")
    for place, name, value in zip(("Second", "Third"), ("atol", "rtol"), tolerances, strict=False):
        if type(value) is not float:
            raise RuntimeError(f"{place} argument ({name}) must be a float, got {type(value).__name__}")
    atol, rtol = (*tolerances, 1e-5, 1e-5)[:2]
    if enabled and not (atol > 0 and rtol > 0):
        raise RuntimeError(f"Numerical check tolerances must be positive. Got atol={atol:g}, rtol={rtol:g}")


def _read_file(filename: str) -> bool:
    if not Path(_expect("tunableop_read_file", filename, str)).exists():
        return False
    raise NotImplementedError(
        "samedevice does not simulate TunableOp, which chooses kernels of cuBLAS: a file of its results is of no use"
    )


def _workspaces() -> dict[str, Callable[..., Any]]:
    functions: dict[str, Callable[..., Any]] = {}
    for library, default in (("Cublas", _WORKSPACE), ("CublasLt", _LT_WORKSPACE)):
        functions |= _workspace(library, default)
    return functions


def _workspace(library: str, default: int) -> dict[str, Callable[..., Any]]:
    size = [default]

    def choose(value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, int):
            kind = type(value).__name__
            raise RuntimeError(f"set {library.lower()} workspace size expects an int, but got {kind}")
        if value < 0:
            raise RuntimeError(f"{library.lower()} workspace size must be non-negative, got {value}")
        size[:] = [_fits(value)]

    def reset() -> None:
        size[:] = [default]

    return {
        f"get{library}WorkspaceSize": lambda: size[0],
        f"set{library}WorkspaceSize": choose,
        f"reset{library}WorkspaceSize": reset,
    }


def _expect(function: str, value: Any, kind: type[Any]) -> Any:
    """Return an argument that is of the kind that torch/csrc/cuda/Module.cpp expects."""
    if type(value) is not kind:
        expected = {bool: "a bool", int: "an int", str: "a string"}[kind]
        raise RuntimeError(f"cuda_{function} expects {expected}, but got {type(value).__name__}")
    return _fits(value) if kind is int else value


def _fits(value: int) -> int:
    """torch/csrc/utils/python_numbers.h, THPUtils_unpackLong."""
    if not -(2**63) <= value < 2**63:
        raise ValueError("Overflow when unpacking long long")
    return value
