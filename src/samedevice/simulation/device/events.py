"""Events of simulated GPUs: a recorded one is always reached, as every operation is finished when it returns.

The time between two is that of the CPU's clock between their records: how long the simulation took, not how long a GPU
would.
"""

import abc
import ctypes
import operator
import time
from collections.abc import Iterator
from typing import Any, NoReturn

import torch
from torch.types import Device

from samedevice.simulation.device import devices

_HANDLE = 64  # bytes, of a cudaIpcEventHandle_t


class OfTorchCuda(abc.ABC):  # noqa: B024 - asked of an instance alone
    """Stands for the classes of torch.cuda in isinstance. They do not derive from it: they keep PyTorch's bases."""


# An object of C++ is refused by copy and pickle: torch.Stream and torch.Event have these three methods.


def reduce_ex(self: Any, protocol: Any) -> Any:
    own: Any = type(self).__reduce__
    if own is not reduce:  # a subclass that a program derived may have one
        return self.__reduce__()
    if protocol < 2:
        return self.__reduce__()
    raise TypeError(f"cannot pickle '{_named(self)}' object")


def reduce(self: Any) -> NoReturn:
    name = type(self).__name__
    if isinstance(self, OfTorchCuda):
        raise TypeError(f"'{name}' object cannot be interpreted as an integer")
    raise TypeError(f"cannot pickle '{name}' object")


def no_attribute(self: Any, name: str) -> NoReturn:
    raise AttributeError(f"'{_named(self)}' object has no attribute '{name}'")


def _named(instance: Any) -> str:
    """A class of C++ is known by its module's name, too."""
    name = type(instance).__name__
    return name if isinstance(instance, OfTorchCuda) or type(instance).__module__ != "torch" else f"torch.{name}"


class AnyEvent:
    """torch.Event on a simulated GPU (torch/csrc/Event.cpp)."""

    __slots__ = ("__weakref__", "_recorded", "_timed", "device")  # a class of C++ shows its attributes

    device: Any  # None before the first record, for torch.cuda.Event
    __reduce_ex__, __reduce__, __getattr__ = reduce_ex, reduce, no_attribute

    def __init__(
        self, device: Device = None, *, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        self.device = torch.device("cuda")
        self._timed = enable_timing
        self._recorded: int | None = None  # nanoseconds

    @property
    def event_id(self) -> int:
        return id(self) if self._recorded is not None else 0

    def record(self, stream: Any = None) -> None:
        """aten/src/ATen/cuda/CUDAEvent.h, createEvent and record: the first record fixes the GPU."""
        self._expect_stream(stream)
        there = devices.gpu(devices.current()) if stream is None else stream.device
        if self._recorded is not None and self.device != there:
            # Printed as PyTorch prints it: an index is an int8, hence a character, and the first zero ends the text.
            before, now = chr(self.device.index), chr(there.index)
            text = f"Event device {before} does not match recording stream's device {now}."
            raise RuntimeError(text.partition("\0")[0])
        self.device, self._recorded = there, time.perf_counter_ns()

    def wait(self, stream: Any = None) -> None:
        self._expect_stream(stream)

    def synchronize(self) -> None: ...

    def _expect_stream(self, stream: Any) -> None:
        """torch/csrc/Event.cpp and torch/csrc/cuda/Event.cpp: what is no stream has no number."""
        if stream is not None and not hasattr(stream, "stream_id"):
            if isinstance(self, OfTorchCuda):
                raise RuntimeError("expected stream to be a torch.Stream or torch.cuda.Stream object")
            devices.not_equal("isValidDeviceType(device_type)")

    def query(self) -> bool:
        return True

    def elapsed_time(self, end_event: Any) -> float:
        """Milliseconds (CUDAEvent.h, elapsed_time)."""
        if not self._is_like(end_event):  # torch/csrc/Event.cpp and torch/csrc/cuda/Event.cpp, both elapsed_time
            kind = "torch.cuda.Event" if isinstance(self, OfTorchCuda) else "torch.Event"
            raise RuntimeError(f"expected other to be a {kind} object")
        if not (self._timed and end_event._timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._recorded is None or end_event._recorded is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        if self.device != end_event.device:
            # CUDA C++ Programming Guide, Multi-Device System: cudaEventElapsedTime() fails; torch/test/test_cuda.py,
            # test_events_multi_gpu_elapsed_time, expects an error.
            raise torch.AcceleratorError(
                devices.cuda_error("invalid resource handle", "cudaErrorInvalidResourceHandle")
            )
        return float((end_event._recorded - self._recorded) / 1e6)

    def _is_like(self, other: Any) -> bool:
        """Whether the other event is of torch too, or of torch.cuda too."""
        return isinstance(other, AnyEvent) and isinstance(other, OfTorchCuda) == isinstance(self, OfTorchCuda)

    @classmethod
    def from_ipc_handle(cls, device: Device, handle: bytes) -> Any:
        cls().ipc_handle()

    def ipc_handle(self) -> bytes:
        # c10/core/impl/InlineEvent.h does not have it
        raise NotImplementedError("torch.Event ipc is not supported yet, please open an issue if you need this!")

    def __repr__(self) -> str:
        index = -1 if self.device is None or self.device.index is None else self.device.index
        return f"torch.Event device_type=cuda, device_index={index}, event_flag=0, event_id={self.event_id}"


class _CudaEventBase(AnyEvent):
    """torch._C._CudaEventBase (torch/csrc/cuda/Event.cpp)."""

    __slots__ = ()


@OfTorchCuda.register
class Event(_CudaEventBase):
    """torch.cuda.Event (torch/cuda/streams.py)."""

    def __new__(
        cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, external: bool = False
    ) -> Any:
        for flag in (enable_timing, blocking, interprocess, external):
            operator.index(flag)  # refuses what is no flag, as C++ does
        event = super().__new__(cls)
        event._timed, event._recorded, event.device = bool(enable_timing), None, None
        return event

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: as in torch.cuda, an event is complete when it is made, whatever a subclass's __init__ does."""

    def ipc_handle(self) -> bytes:
        raise NotImplementedError("samedevice simulates one process: an event cannot be sent to another")

    @classmethod
    def from_ipc_handle(cls, device: Device, handle: bytes) -> Any:
        if len(handle) != _HANDLE:  # torch/csrc/cuda/Event.cpp, THCPEvent_from_ipc_handle
            raise RuntimeError(
                f"cudaIpcEventHandle_t expects byte-like object of size {_HANDLE}, but got {len(handle)}"
            )
        return cls().ipc_handle()

    @property
    def cuda_event(self) -> int:
        return self.event_id

    @property
    def _as_parameter_(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self.cuda_event)

    def __repr__(self) -> str:
        return f"<torch.cuda.Event {self.cuda_event:#x}>" if self.cuda_event else "<torch.cuda.Event uninitialized>"


AnyEvent.__name__ = AnyEvent.__qualname__ = "Event"
AnyEvent.__module__, _CudaEventBase.__module__, Event.__module__ = "torch", "torch._C", "torch.cuda.streams"
for _name in ("record", "wait", "query", "elapsed_time", "synchronize"):
    vars(AnyEvent)[_name].__qualname__ = f"Event.{_name}"  # as errors of a wrong number of arguments name it


def replacements() -> Iterator[tuple[object, str, object]]:
    for owner in (torch.cuda, torch.cuda.streams):
        yield owner, "Event", Event
    yield torch._C, "_CudaEventBase", _CudaEventBase
