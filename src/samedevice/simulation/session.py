"""Start and stop: the one place where torch is changed and put back.

A part says in `replacements()` what to put in the place of what, and changes nothing by itself. What cannot be put back
by name goes into its `start()` and `stop()`; `stop()` may be called twice.
"""

import contextlib
import functools
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, Protocol, TypeVar, cast

import torch

from samedevice import gpu_types
from samedevice.gpu_types import GpuType
from samedevice.simulation import stand_ins, state
from samedevice.simulation.decorated import inside
from samedevice.simulation.device import devices, events, generators, pinned_memory, properties, streams
from samedevice.simulation.patches import (
    autocast,
    autograd,
    comm,
    compilers,
    composite,
    cublas,
    cuda,
    dlpack,
    execution_engine,
    foreach,
    higher_order,
    library,
    memory,
    multiprocessing,
    nccl,
    nn,
    only_with_cuda,
    process_group_gloo,
    process_group_nccl,
    split_group,
    storage,
    tensor_types,
    torch_dispatch_mode,
    torch_dynamo,
    torch_ops,
    torchscript_files,
    warned_lines,
)
from samedevice.simulation.rules import composite_checks, composite_kernels, linear_algebra
from samedevice.simulation.stand_ins import ABSENT
from samedevice.simulation.tensor import (
    allocation,
    batched_gradients,
    dtensor,
    factories,
    fake,
    functorch,
    nested,
    nested_gradients,
    ownership,
    pinning,
    saved_numbers,
    setitem,
    subclasses,
    transfers,
    without_dispatch,
    wrapping,
)
from samedevice.tested_torch import warn_of_another_torch

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Part(Protocol):
    """A file that stands in for some of PyTorch's functions, classes and attributes while a simulation runs."""

    def replacements(self) -> Iterator[tuple[object, str, object]]:
        """What to put in place of what: (owner, name, replacement)."""


_PARTS: tuple[Part, ...] = (
    factories,
    transfers,
    setitem,
    pinning,
    subclasses,
    autograd,
    execution_engine,
    composite_checks,
    nn,
    linear_algebra,
    storage,
    dlpack,
    foreach,
    higher_order,
    tensor_types,
    only_with_cuda,  # refuses what a build with CUDA has; those that come later have more to say of some
    properties,
    streams,
    events,
    memory,
    pinned_memory,
    generators,
    autocast,
    compilers,
    torch_dynamo,
    cublas,
    cuda,
    comm,
    nccl,
    process_group_gloo,
    process_group_nccl,
    split_group,
    dtensor,
    multiprocessing,
    functorch,
    batched_gradients,
    ownership,
    nested,
    torch_dispatch_mode,
    torch_ops,
    torchscript_files,
    fake,
    library,
    without_dispatch,
)


class simulate_cuda:  # noqa: N801 - used like a function
    """A CUDA with `devices` GPUs on a machine that may have none: real values, PyTorch's own rules and messages.

    Inside the context torch.cuda and torch.accelerator show the GPUs, `device="cuda:1"` works, and tensors on different
    devices fail where, and as, they fail on CUDA. It is the process's: every thread sees it. Nested, a simulation of as
    many GPUs or fewer joins the running one, and warns if it named fewer: all of the running one's are there.
    CUDA_VISIBLE_DEVICES hides some of them, as on CUDA.

    Not simulated: time and asynchrony, the numbers that a GPU's generator draws, sensors, CUDA graphs, compilers
    (torch.compile, TorchScript: their code runs eagerly), NCCL itself (gloo does its work), and gradients of strided
    nested tensors; nor does it reach torch.tensor, torch.as_tensor, Tensor.to and Tensor.cuda by a name that was bound
    before it began (`from torch import tensor`).

    When it has ended, torch is what it was before. A tensor that is left over can be looked at and brought back by
    .cpu(); whoever computes with it gets a RuntimeError that says so.

    Args:
        devices: how many GPUs, at least 1, or the model of each, such as ["NVIDIA T4", "NVIDIA A100-SXM4-40GB"]: its
            name, memory and compute capability are then those of that model. None is 1, or as many as the running
            simulation has.
        rng: "cpu" lets GPUs draw from the CPU's generator, so that a program has the CPU's numbers digit by digit;
            "cuda" gives each a generator of its own, as on CUDA. None is "cuda", or what the running simulation has.

    Raises:
        ImportError: torch is not installed.
        ValueError: `devices` is neither a positive integer nor a list of models that are known, or `rng` is another
            word.
        TypeError: it decorates a class, or is a decorator without parentheses.
        RuntimeError: a simulation with fewer GPUs, other models or the other generators is running already.

    Example:
        >>> import torch, samedevice
        >>> with samedevice.simulate_cuda(devices=2):
        ...     print(torch.zeros(2, device="cuda:1"))
        tensor([0., 0.], device='cuda:1')

    Without a `with` block: `simulation = simulate_cuda(2).start()` and, later, `simulation.stop()`. As a decorator,
    `@simulate_cuda(2)`, it starts at each call of the function, and lasts as long as a coroutine or generator runs.

    The rules: https://docs.pytorch.org/docs/stable/notes/cuda.html and, operator by operator, judgement.py.
    """

    def __init__(
        self, devices: int | Sequence[str] | None = None, *, rng: Literal["cpu", "cuda"] | None = None
    ) -> None:
        if callable(devices):
            raise TypeError("simulate_cuda has no GPUs yet: write @simulate_cuda() or @simulate_cuda(2)")
        if isinstance(devices, list | tuple) and devices and all(isinstance(name, str) for name in devices):
            for name in devices:
                gpu_types.named(name)
        elif devices is not None and (isinstance(devices, bool) or not isinstance(devices, int) or devices < 1):
            raise ValueError(
                "devices must be an integer of at least 1, the number of GPUs to simulate, or a list of their models, "
                f'such as ["NVIDIA T4"]; got {devices!r}'
            )
        if rng not in (None, "cpu", "cuda"):
            raise ValueError(f'rng must be "cpu" or "cuda", whose numbers the GPUs draw; got {rng!r}')
        self.devices = devices
        self.rng = rng
        self._tokens: list[object] = []

    def start(self) -> "simulate_cuda":
        """Begin; returns self."""
        token = object()
        try:
            _session.enter(token, self.devices, self.rng)
            self._tokens.append(token)
            return self
        except BaseException:  # Ctrl+C included: half a simulation is of no use
            _session.leave(token)
            raise

    def stop(self) -> None:
        """End what start began: when all have stopped, torch is as it was before."""
        with _session.lock:
            if not self._tokens:
                raise RuntimeError("this simulation is not running: call stop() once for each start()")
            token = self._tokens[-1]
            try:
                _session.leave(token)
            except BaseException:  # Ctrl+C included: finish first
                _session.leave(token)
                raise
            finally:
                self._tokens.remove(token)

    def __enter__(self) -> "simulate_cuda":
        return self.start()

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def __call__(self, function: _Function) -> _Function:
        if isinstance(function, type) or not callable(function):
            raise TypeError(f"simulate_cuda decorates functions, not {function!r}: decorate the methods of a class")
        return cast(_Function, inside(lambda: simulate_cuda(self.devices, rng=self.rng), function))


class _Session:
    """The running simulation of this process, and who has started it and not stopped."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._running: set[object] = set()
        self._types: list[GpuType] = []
        self._changed: list[tuple[object, str, object]] = []
        self._default_device: Any = None

    def enter(self, token: object, asked: int | Sequence[str] | None, rng: str | None) -> None:
        with self.lock:
            types = _types(asked)
            if self._running and rng is not None and (rng == "cpu") != state.now.from_cpu:
                other = "cpu" if rng == "cuda" else "cuda"
                raise RuntimeError(
                    f"a simulation with rng={other!r} is running, so one with rng={rng!r} cannot start inside it: "
                    f"start the outer one with simulate_cuda(rng={rng!r}), or `samedevice run --rng {rng}`"
                )
            if self._running and types is None:
                types = self._types
            types = types or [gpu_types.UNNAMED]
            running = len(self._types)
            if self._running and len(types) > running:
                raise RuntimeError(
                    f"a simulation of {running} GPU(s) is running, so one of {len(types)} cannot start inside it: "
                    f"start the outer one with simulate_cuda(devices={len(types)}), `samedevice run --gpus "
                    f"{len(types)}` or `pytest --simulate-cuda {len(types)}`, whichever it was"
                )
            if self._running and isinstance(asked, list | tuple) and types != self._types[: len(types)]:
                names, others = (", ".join(kind.name for kind in each) for each in (self._types, types))
                raise RuntimeError(
                    f"a simulation of other GPUs ({names}) is running, so one of {others} cannot start inside it: "
                    "name the models where the outer one starts"
                )
            if not self._running:
                self._types = types
                self._change(rng == "cpu")
            elif len(types) < running:
                warnings.warn(
                    f"a simulation of {running} GPU(s) is running, and this one of {len(types)} joins it: "
                    f"torch.cuda.device_count() is {devices.count()} here. What needs just {len(types)} has to start "
                    "first",
                    stacklevel=1,  # warned_lines.py names the program's line
                )
            self._running.add(token)

    def leave(self, token: object) -> None:
        """Interrupted, it may be called again: it goes on where it was."""
        with self.lock:
            self._running.discard(token)
            if not self._running:
                self._restore()

    def _change(self, from_cpu: bool) -> None:
        warn_of_another_torch(torch.__version__)
        # Cached on first use: these must hold torch's own attributes, not ours.
        torch.overrides.get_default_nowrap_functions()
        torch.utils._device._device_constructors()
        self._default_device = _default_device()
        state.begin(self._types, from_cpu, self)
        devices.power_on()
        for part in _PARTS:
            self.replace(part.replacements())
        for starting in (allocation, torch_dynamo, warned_lines, cuda, process_group_gloo):
            starting.start()
        composite_kernels.start(
            kernel for part in (composite, composite_checks, nn, linear_algebra) for kernel in part.kernels()
        )
        saved_numbers.start()
        library.start()
        functorch.start(self.replace)
        composite_kernels.replace(batched_gradients.kernels(), "Batched")
        composite_kernels.replace(composite.kernels_in_func(), "FuncTorchDynamicLayerFrontMode")
        state.now.before_nested.append(nested_gradients.start)
        state.now.before_complex.append(
            functools.partial(composite_kernels.add, list(nn.kernels_for_complex_tensors()))
        )
        wrapping.meet_left_over()

    def replace(self, replacements: Iterator[tuple[object, str, object]]) -> None:
        """Put replacements in place until the simulation ends."""
        for owner, name, replacement in replacements:
            self._changed.append((owner, name, vars(owner).get(name, ABSENT)))
            _put(owner, name, stand_ins.in_place_of(owner, name, vars(owner).get(name), replacement))

    def _restore(self) -> None:
        try:
            while state.now.libraries:
                state.now.libraries[-1]._destroy()
                state.now.libraries.pop()
            for stopping in (autocast, torch_dynamo, warned_lines, fake):
                stopping.stop()
        finally:
            while self._changed:
                _put(*self._changed[-1])
                self._changed.pop()
        state.end()  # last, since who is interrupted comes here again
        now = _default_device()
        if now is not None and now is not self._default_device and now.device.type == "cuda":  # that GPU is no more
            torch.set_default_device(getattr(self._default_device, "device", None))

    @contextlib.contextmanager
    def lifted(self) -> Iterator[None]:
        """Inside, torch has its own functions and attributes."""
        with self.lock:
            ours = [(owner, name, vars(owner).get(name, ABSENT)) for owner, name, _ in self._changed]
            for owner, name, value in reversed(self._changed):
                _put(owner, name, value)
            try:
                yield
            finally:
                for owner, name, value in ours:
                    _put(owner, name, value)


def _types(asked: int | Sequence[str] | None) -> list[GpuType] | None:
    """The model of each GPU that was asked for."""
    if asked is None:
        return None
    if isinstance(asked, int):
        return [gpu_types.UNNAMED] * asked
    return [gpu_types.named(name) for name in asked]


def _put(owner: Any, name: str, value: Any) -> None:
    if value is not ABSENT:
        setattr(owner, name, value)
    elif name in vars(owner):
        delattr(owner, name)


def _default_device() -> Any:
    """What torch.set_default_device left in this thread."""
    return getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)


_session = _Session()
