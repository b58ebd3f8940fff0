"""Streams of simulated GPUs: they exist, are told apart and order nothing.

Every operation is finished when it returns, so a stream is always empty. Which one is current is the thread's, GPU by
GPU (c10/cuda/CUDAStream.cpp).
"""

import ctypes
import itertools
import operator
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch.types import Device

from samedevice.simulation import state
from samedevice.simulation.calls import Arguments, Keywords
from samedevice.simulation.class_stand_ins import Face, face
from samedevice.simulation.device import devices, sync_debug
from samedevice.simulation.device.devices import resolve
from samedevice.simulation.device.events import AnyEvent, Event, OfTorchCuda, no_attribute, reduce, reduce_ex

_CUDA = 1  # c10/core/DeviceType.h
_IN_POOL = 32  # of each GPU and priority; then the first is handed out again (CUDAStream.cpp, kStreamsPerPool)
_HIGHEST = -3  # the priority, as on today's GPUs; the lowest is 0
_REMEMBERED = 10_000  # how many changes of the current stream

next_number: Callable[[], int] = torch.autograd._get_sequence_nr  # of the next node that autograd makes

original, _event = torch.Stream, torch.Event


class _Face(Face):
    """What stands for torch.Stream and torch.Event: those of the CPU are PyTorch's own."""

    def __call__(self, device: Device = None, *args: Any, **kwargs: Any) -> Any:
        if "stream_id" not in kwargs and device is not None and torch.device(device).type != "cuda":
            return self.original(device, *args, **kwargs)
        if kwargs.get("device_type", _CUDA) != _CUDA:
            return self.original(**kwargs)
        _read(self.original, args, {name: value for name, value in kwargs.items() if name not in _FROM_ID})
        return self.derived_from(device, *args, **kwargs)

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, (self.original, self.derived_from))

    def __subclasscheck__(self, subclass: type) -> bool:
        return issubclass(subclass, (self.original, self.derived_from))

    @property
    def derived_from(self) -> Any:
        return AnyStream if self.original is original else AnyEvent


_FROM_ID = ("stream_id", "device_index", "device_type")


def _read(original: Any, args: Arguments, kwargs: Keywords) -> None:
    """Let PyTorch's own parser refuse arguments that torch.Stream and torch.Event do not take.

    What it says afterwards is about a machine without an accelerator.
    """
    try:
        original("cpu", *args, **kwargs)
    except TypeError:
        raise
    except Exception:
        pass


def handle(stream_id: int, device_index: int) -> int:
    """The address of a stream, the cudaStream_t (c10/cuda/CUDAStream.cpp): an odd number is a place in PyTorch's pools.

    The default stream's and that of a stream of another library are their numbers too.
    """
    return stream_id << 12 | device_index << 4 if stream_id & 1 else stream_id


class AnyStream:
    """torch.Stream on a simulated GPU (torch/csrc/Stream.cpp)."""

    # A class of C++ shows its attributes.
    __slots__ = ("__weakref__", "_entered", "device", "device_index", "priority", "stream_id")

    device_type = _CUDA
    __reduce_ex__, __reduce__, __getattr__ = reduce_ex, reduce, no_attribute

    def __init__(
        self, device: Device = None, priority: int = 0, *, stream_id: int | None = None, device_index: int = 0,
        device_type: int = _CUDA,
    ) -> None:  # fmt: skip
        self.priority = max(_HIGHEST, min(priority, 0))
        if stream_id is None:
            self.device = resolve("cuda" if device is None else device)
            key = self.device.index, self.priority
            number = next(state.now.stream_numbers.setdefault(key, itertools.cycle(range(_IN_POOL))))
            stream_id = number << 5 | (1 - self.priority) << 1 | 1
        else:
            self.device = devices.gpu(device_index)
            if stream_id & 1:
                self.priority = 1 - (stream_id >> 1 & 15)
        self.device_index: int = self.device.index
        self.stream_id = stream_id
        self._entered: list[tuple[Any, int]] = []

    @property
    def native_handle(self) -> int:
        return handle(self.stream_id, self.device_index)

    def query(self) -> bool:
        return True

    def is_capturing(self) -> bool:
        return False

    def synchronize(self) -> None:
        sync_debug.wait()

    def wait_event(self, event: Any) -> None:
        event.wait(self)

    def wait_stream(self, stream: Any) -> None:
        self.wait_event(stream.record_event())

    def record_event(self, event: Any = None) -> Any:
        event = AnyEvent(self.device) if event is None else event
        if not isinstance(event, AnyEvent) and not isinstance(self, OfTorchCuda):  # torch/csrc/Stream.cpp
            raise RuntimeError("expected event to be a torch.Event object")
        event.record(self)
        return event

    def __enter__(self) -> Any:
        self._entered.append((_current_id(self.device_index), devices.current()))
        set_stream(self.stream_id, self.device_index, _CUDA)
        return self

    def __exit__(self, *exception: Any) -> None:
        before, device = self._entered.pop()
        set_stream(before, self.device_index, _CUDA)
        devices.set_current(device)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnyStream) and (self.stream_id, self.device) == (other.stream_id, other.device)

    def __ne__(self, other: object) -> bool:
        return other is not None and not self == other  # THPStream_richcompare: None is neither equal nor unequal

    def __lt__(self, other: object) -> bool:
        return False

    __le__ = __gt__ = __ge__ = __lt__

    def __hash__(self) -> int:
        return hash((self.stream_id, self.device))

    def __repr__(self) -> str:
        return f"torch.Stream device_type=cuda, device_index={self.device_index}, stream_id={self.stream_id}"


class _CudaStreamBase(AnyStream):
    """torch._C._CudaStreamBase (torch/csrc/cuda/Stream.cpp)."""

    __slots__ = ()


@OfTorchCuda.register
class Stream(_CudaStreamBase):
    """torch.cuda.Stream (torch/cuda/streams.py)."""

    def __new__(cls, device: Device = None, priority: int = 0, **kwargs: Any) -> Any:
        index = _index(device) if "stream_id" not in kwargs else None
        # torch/csrc/cuda/Stream.cpp, THCPStream_pynew
        for name in kwargs:
            if name not in _FROM_ID:
                raise TypeError(f"'{name}' is an invalid keyword argument for this function")
        stream = super().__new__(cls)
        AnyStream.__init__(stream, index, operator.index(priority), **kwargs)
        return stream

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: as in torch.cuda, a stream is complete when it is made, whatever a subclass's __init__ does."""

    @property
    def cuda_stream(self) -> int:
        return handle(self.stream_id, self.device_index)

    @property
    def _as_parameter_(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(self.cuda_stream)

    @classmethod
    def priority_range(cls) -> tuple[int, int]:
        return 0, _HIGHEST

    def record_event(self, event: Any = None) -> Any:
        return super().record_event(Event() if event is None else event)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and super().__eq__(other)

    def __hash__(self) -> int:
        return hash((self.cuda_stream, self.device))

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.cuda_stream


class ExternalStream(Stream):
    """torch.cuda.ExternalStream: the address is taken as given, nothing is behind it."""

    def __new__(cls, stream_ptr: int, device: Device = None, **kwargs: Any) -> Any:
        if not isinstance(stream_ptr, int):  # torch/csrc/cuda/Stream.cpp, THCPStream_pynew
            raise RuntimeError(f"stream_ptr must be an int or None, got {type(stream_ptr).__name__}")
        if stream_ptr < 0:
            raise OverflowError("can't convert negative int to unsigned")
        return super().__new__(cls, stream_id=stream_ptr, device_index=_index(device), **kwargs)


def _index(device: Device) -> int:
    """A negative index is the current GPU, as in torch.cuda.device."""
    index: int = torch.cuda._utils._get_device_index(device, optional=True)
    return devices.current() if index < 0 else index


def _checked(index: int) -> int:
    """c10/cuda/CUDAStream.cpp, check_gpu."""
    devices.use()
    if devices.fits(index) == -1:
        return devices.current()
    if not 0 <= index < devices.count():
        raise RuntimeError(f"Device index value {index} is out of index range [0, {devices.count()})")
    return index


def _current_id(index: int) -> int:
    number: int = vars(state.now.current_streams).get(str(index), 0)
    return number


def set_stream(stream_id: int, device_index: int, device_type: int) -> None:
    """torch/csrc/cuda/Module.cpp, THCPModule_setStream_wrap: the stream's GPU becomes the current one."""
    devices.set_current(device_index)
    vars(state.now.current_streams)[str(device_index)] = stream_id
    _note_change(device_index, stream_id)


def set_all(current: dict[str, int]) -> None:
    """Make these streams current in this thread, each by the index of its GPU, and the default streams elsewhere."""
    before = vars(state.now.current_streams)
    for index in {*before, *current}:
        if before.get(index, 0) != current.get(index, 0):
            _note_change(int(index), current.get(index, 0))
    before.clear()
    before.update(current)


class Change(NamedTuple):
    """That a stream became the current one of its GPU."""

    number: int  # what autograd's next node is numbered
    gpu: int
    stream: int


def changes() -> Sequence[Change]:
    """The latest changes in this thread, which tell in which stream a node of autograd was made."""
    latest: Sequence[Change] = vars(state.now.stream_changes).get("latest", ())
    return latest


def _note_change(gpu: int, stream: int) -> None:
    noted = vars(state.now.stream_changes)
    latest = noted.setdefault("latest", deque(maxlen=_REMEMBERED))
    number = next_number()
    for index in range(len(latest) - 1, -1, -1):
        if latest[index].number != number:
            break
        if latest[index].gpu == gpu:  # no node was made in the stream before
            del latest[index]
            break
    latest.append(Change(number, gpu, stream))


AnyStream.__name__ = AnyStream.__qualname__ = "Stream"
AnyStream.__module__, _CudaStreamBase.__module__ = "torch", "torch._C"
for _name in ("wait_event", "wait_stream", "record_event", "query", "synchronize"):
    vars(AnyStream)[_name].__qualname__ = f"Stream.{_name}"  # as errors of a wrong number of arguments name it
Stream.__module__ = ExternalStream.__module__ = "torch.cuda.streams"


def replacements() -> Iterator[tuple[object, str, object]]:
    for owner in (torch.cuda, torch.cuda.streams):
        for stand_in in (Stream, ExternalStream):
            yield owner, stand_in.__name__, stand_in
    yield torch._C, "_CudaStreamBase", _CudaStreamBase
    stream, event = face(_Face, original), face(_Face, _event)
    for owner in (torch, torch._C):
        yield owner, "Stream", stream
        yield owner, "Event", event
    yield torch._C, "_cuda_setStream", set_stream
    yield torch._C, "_cuda_getCurrentStream", lambda index: (_current_id(_checked(index)), _checked(index), _CUDA)
    yield torch._C, "_cuda_getCurrentRawStream", lambda index: handle(_current_id(_checked(index)), _checked(index))
    yield torch._C, "_cuda_getDefaultStream", lambda index: (0, _checked(index), _CUDA)
    yield torch._C, "_cuda_getStreamFromExternal", lambda pointer, index: (pointer, _checked(index), _CUDA)
    yield torch._C, "_accelerator_getStream", _accelerator_stream
    yield torch._C, "_accelerator_setStream", _set_accelerator_stream


def _accelerator_stream(index: int) -> AnyStream:
    return AnyStream(stream_id=_current_id(_checked(index)), device_index=_checked(index))


def _set_accelerator_stream(stream: Any) -> None:
    if not isinstance(stream, AnyStream):  # pybind11's words (torch/csrc/DeviceAccelerator.cpp)
        raise TypeError(
            "_accelerator_setStream(): incompatible function arguments. The following argument types are supported:\n"
            f"    1. (arg0: torch.Stream) -> None\n\nInvoked with: {stream!r}"
        )
    if stream.device_index < 0:
        raise RuntimeError(f"device id must be non-negative!{stream.device_index}")
    set_stream(stream.stream_id, stream.device_index, _CUDA)
