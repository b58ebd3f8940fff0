"""Where the CPU waits for a GPU: torch.cuda.set_sync_debug_mode, which warns there or raises.

Nothing waits in a simulation; it only knows where CUDA would: where c10/cuda/CUDAFunctions.cpp, warn_or_error_on_sync,
is called. That is the copy between CPU and GPU that is not non_blocking (native/cuda/Copy.cu), whatever brings a number
to the CPU (native/cuda/CUDAScalar.cu), and operators whose result has a size that the GPU finds. As in PyTorch the
list is not complete: operators that PyTorch composes in C++ may wait inside.
"""

import warnings
from typing import Any

import torch

from samedevice.simulation import state
from samedevice.simulation.calls import Arguments, Keywords, Overload
from samedevice.simulation.device.devices import CPU, device_of

_told = False
_PROTOTYPE = "Synchronization debug mode is a prototype feature and does not yet detect all synchronizing operations"
_TEXT = "called a synchronizing CUDA operation"
_aten = torch.ops.aten
_BRING_A_NUMBER = {_aten._local_scalar_dense, _aten.allclose, _aten.is_nonzero, _aten.equal}
_FIND_A_SIZE = {
    _aten.nonzero, _aten.masked_select, _aten._unique2, _aten.unique_dim, _aten.unique_consecutive, _aten.bincount,
    _aten.repeat_interleave,
}  # fmt: skip
_FILLED = {_aten.masked_fill, _aten.masked_fill_, _aten.index_fill, _aten.index_fill_}  # with a number of the CPU's
_INDEXED = {_aten.index, _aten.index_put, _aten.index_put_, _aten._index_put_impl_}


def set_level(given: Any) -> None:
    """torch/csrc/cuda/Module.cpp, THCPModule_cudaSetSyncDebugMode."""
    global _told
    if not _told or torch.is_warn_always_enabled():
        _told = True
        warn(_PROTOTYPE)
    if isinstance(given, bool) or not isinstance(given, int):
        raise RuntimeError("invalid argument to set_sync_debug_mode")
    if not 0 <= given <= 2:
        raise RuntimeError("invalid value of debug_mode, expected one of 0,1,2")
    state.now.sync_debug_level = given


def wait() -> None:
    """Warn or raise, as the level says: the CPU would wait here."""
    if state.now.sync_debug_level == 2:
        raise RuntimeError(_TEXT)
    if state.now.sync_debug_level == 1:
        warn(_TEXT)


def warn(text: str) -> None:
    """Warn as C++ does, about the line that called into C++ (see patches/warned_lines.py)."""
    warnings.warn(text, UserWarning, stacklevel=1)


def copies(source: torch.Tensor, device: torch.device, non_blocking: bool) -> None:
    """Warn or raise if the CPU would wait for this copy of `source` to `device`."""
    if (
        state.now.sync_debug_level
        and not non_blocking
        and source.numel()
        and {device_of(source).type, device.type} == {"cpu", "cuda"}
    ):
        wait()


def before(func: Overload, args: Arguments, kwargs: Keywords, device: torch.device) -> None:
    """Observe an operator on a GPU before it runs, while the level is not 0."""
    packet = func.overloadpacket
    if packet in _BRING_A_NUMBER:
        if packet is not _aten.equal or args[0] is not args[1]:
            wait()
    elif packet in _FILLED:
        if isinstance(args[-1], torch.Tensor) and device_of(args[-1]) is not CPU:
            wait()
    elif packet in _FIND_A_SIZE:
        if not any(x is not None and name == "output_size" for name, x in (kwargs or {}).items()):
            wait()
    elif packet is _aten.copy_:
        copies(args[1], device_of(args[0]), len(args) > 2 and args[2])
    elif packet in _INDEXED and device_of(args[0]) is not CPU:
        _before_indexing(packet, args)


def _before_indexing(packet: Any, args: Arguments) -> None:
    """native/TensorAdvancedIndexing.cpp: a mask is turned into indices where it is, which then go to the GPU."""
    indices = [index for index in args[1] if index is not None]
    masks = (torch.bool, torch.uint8)
    if packet is not _aten.index:
        if all(index.dtype in masks for index in indices) and args[2].numel() == 1 and device_of(args[2]) is CPU:
            return  # masked_fill
        copies(args[2], device_of(args[0]), False)
    for index in indices:
        if index.dtype in masks:
            if device_of(index) is not CPU:
                wait()
        else:
            copies(index, device_of(args[0]), False)
