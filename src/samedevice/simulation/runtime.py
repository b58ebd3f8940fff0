"""What torch.cuda and torch.accelerator answer about simulated GPUs.

Streams and events exist and order nothing: every operation is finished when it returns. Names, compute capability and
memory size are those of no GPU that can be bought, so that nobody mistakes a simulated one for real.
"""

import types
import warnings
from collections.abc import Iterator
from typing import Any

import torch

from samedevice.simulation import devices, memory, randomness
from samedevice.simulation.devices import resolve

NAME = "Simulated GPU (samedevice)"
MEMORY = 16 * 2**30  # bytes


_set_autocast_enabled = torch.set_autocast_enabled


class Stream:
    """A queue of work on one GPU; here always empty."""

    def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
        self.device = resolve("cuda" if device is None else device)
        self.device_index = self.device.index
        self.device_type = 1
        self.stream_id = self.cuda_stream = 0
        self.priority = priority
        self._entered: list[int] = []

    def wait_stream(self, stream: Any) -> None: ...
    def wait_event(self, event: Any) -> None: ...
    def synchronize(self) -> None: ...

    def query(self) -> bool:
        return True

    def is_capturing(self) -> bool:
        return False

    def record_event(self, event: Any = None) -> "Event":
        return event if event is not None else Event()

    def __enter__(self) -> "Stream":
        self._entered.append(devices.current())
        devices.set_current(self.device_index)
        return self

    def __exit__(self, *exception: Any) -> None:
        devices.set_current(self._entered.pop())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.device == self.device

    def __hash__(self) -> int:
        return hash(self.device)

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream=0x0>"


class Event:
    """A point in a stream; here always reached."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def record(self, stream: Any = None) -> None: ...
    def wait(self, stream: Any = None) -> None: ...
    def synchronize(self) -> None: ...

    def query(self) -> bool:
        return True

    def elapsed_time(self, end_event: "Event") -> float:
        return 0.0


def _index(device: Any) -> int:
    """torch/cuda/_utils.py, _get_device_index."""
    if device is None:
        return devices.current()
    asked = resolve(device)
    if asked.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {device}")
    index: int = asked.index
    return index


def current_stream(device: Any = None) -> Stream:
    return Stream(_index(device))


def is_available() -> bool:
    return devices.count() > 0 and not devices.in_forked_child()


def current_device() -> int:
    devices.use()
    return devices.current()


def set_device(device: Any) -> None:
    devices.set_current(_index(device))


def exchange_device(index: int) -> int:
    """Make `index` current and return what was; -1 changes nothing (c10/cuda/CUDAFunctions.cpp)."""
    if index < 0:
        return -1
    before = current_device()
    devices.set_current(index)
    return before


def get_device_properties(device: Any = None) -> Any:
    index = _index(device)
    devices.gpu(index)
    return types.SimpleNamespace(
        name=NAME, major=0, minor=0, total_memory=MEMORY, multi_processor_count=1, is_integrated=False,
        is_multi_gpu_board=False, warp_size=32, uuid=f"samedevice-{index}", gcnArchName="",
        max_threads_per_multi_processor=1024, regs_per_multiprocessor=65536, shared_memory_per_block=49152,
        L2_cache_size=0,
    )  # fmt: skip


def current_accelerator(check_available: bool = False) -> torch.device | None:
    return torch.device("cuda") if is_available() or not check_available else None


def mem_get_info(device: Any = None) -> tuple[int, int]:
    return MEMORY - memory.memory_allocated(device), MEMORY


def set_autocast_enabled(*arguments: Any) -> None:
    """torch.set_autocast_enabled, which torch.autocast calls: in C++ a simulated tensor is not one of CUDA's."""
    device_type, enabled = arguments if len(arguments) == 2 else ("cuda", *arguments)  # the old form was for CUDA alone
    if enabled and device_type == "cuda":
        warnings.warn(
            'samedevice does not simulate autocast: under autocast("cuda") the computation stays in float32',
            stacklevel=3,
        )
    _set_autocast_enabled(device_type, enabled)


def replacements() -> Iterator[tuple[Any, str, Any]]:
    """What to put in place of what: (owner, name, replacement)."""

    def nothing(*args: Any, **kwargs: Any) -> None:
        """Nothing to do: every simulated operation is finished when it returns."""

    cuda = {
        "is_available": is_available, "device_count": devices.count, "current_device": current_device,
        "set_device": set_device, "_exchange_device": exchange_device, "_maybe_exchange_device": exchange_device,
        "is_initialized": devices.used, "init": devices.use, "_lazy_init": devices.use,
        "_is_in_bad_fork": devices.in_forked_child,
        "get_device_name": lambda device=None: get_device_properties(device).name,
        "get_device_capability": lambda device=None: (0, 0), "get_device_properties": get_device_properties,
        "can_device_access_peer": lambda device, peer_device: True,
        "synchronize": nothing, "empty_cache": nothing, "ipc_collect": nothing, "mem_get_info": mem_get_info,
        "memory_allocated": memory.memory_allocated, "memory_reserved": memory.memory_allocated,
        "max_memory_allocated": memory.max_memory_allocated, "max_memory_reserved": memory.max_memory_allocated,
        "reset_peak_memory_stats": memory.reset_peak_memory_stats,
        "reset_max_memory_allocated": memory.reset_peak_memory_stats,
        "memory_stats": memory.memory_stats, "memory_summary": memory.memory_summary,
        "set_per_process_memory_fraction": nothing,
        "is_bf16_supported": lambda including_emulation=True: True, "get_arch_list": list,
        "Stream": Stream, "Event": Event, "current_stream": current_stream, "default_stream": current_stream,
        "stream": lambda stream: stream if stream is not None else current_stream(), "set_stream": nothing,
        "is_current_stream_capturing": lambda: False,
        **{name: getattr(randomness, name) for name in (
            "manual_seed", "manual_seed_all", "seed", "seed_all", "initial_seed", "get_rng_state", "set_rng_state",
            "get_rng_state_all", "set_rng_state_all",
        )},
    }  # fmt: skip
    for name, function in cuda.items():
        for owner in (torch.cuda, torch.cuda.random, torch.cuda.memory, torch.cuda.streams):
            if owner is torch.cuda or name in vars(owner):  # each of the others is also imported by itself
                yield owner, name, function
    yield torch.cuda, "default_generators", tuple(randomness.default_generator(gpu) for gpu in devices.gpus())
    for name in ("range_push", "range_pop", "range_start", "range_end", "mark"):
        yield torch.cuda.nvtx, name, nothing
    accelerator = {
        "is_available": is_available, "device_count": devices.count, "current_accelerator": current_accelerator,
        "current_device_index": current_device, "current_device_idx": current_device,
        "set_device_index": set_device, "set_device_idx": set_device, "current_stream": current_stream,
        "set_stream": nothing, "synchronize": nothing, "empty_cache": nothing,
        "memory_allocated": memory.memory_allocated, "memory_reserved": memory.memory_allocated,
        "max_memory_allocated": memory.max_memory_allocated, "max_memory_reserved": memory.max_memory_allocated,
        "reset_peak_memory_stats": memory.reset_peak_memory_stats, "get_memory_info": mem_get_info,
    }  # fmt: skip
    for name, function in accelerator.items():
        yield torch.accelerator, name, function
    yield torch._C, "_accelerator_exchangeDevice", exchange_device
    yield torch._C, "_accelerator_maybeExchangeDevice", exchange_device
    yield torch._C, "_accelerator_getAccelerator", current_accelerator
    yield torch, "device", devices.DeviceFace
    yield torch, "set_autocast_enabled", set_autocast_enabled
    yield torch, "Stream", Stream
    yield torch, "Event", Event
    yield torch, "Generator", randomness.GeneratorFace
    yield torch.cuda.amp.common, "amp_definitely_not_available", lambda: not is_available()
