"""Start and stop: the one place where torch is changed and put back."""

import threading
from typing import Any

import torch

from samedevice.simulation import (
    composites,
    devices,
    entries,
    factories,
    gradients,
    grouping,
    legacy,
    moves,
    parallel,
    placement,
    randomness,
    runtime,
    storage,
)

_PARTS = (factories, moves, gradients, composites, entries, storage, grouping, legacy, runtime, parallel)
_MISSING: Any = object()


class simulate_cuda:  # noqa: N801 - used like a function
    """A CUDA with `devices` GPUs on a machine that may have none: real values, PyTorch's own rules and messages.

    Inside the context torch.cuda and torch.accelerator show the GPUs, `device="cuda:1"` works, and tensors on different
    devices fail where, and as, they fail on CUDA. It is the process's: every thread sees it. Nested, a simulation of as
    many GPUs or fewer joins the running one. CUDA_VISIBLE_DEVICES hides some of them, as on CUDA.

    Not simulated: time and asynchrony, the numbers that a GPU's generator draws, autocast's dtypes, sparse and nested
    tensors, TorchScript, torch.compile, NCCL; nor does it reach functions that were bound before it began
    (`from torch import zeros`).

    Arguments:
        devices: how many GPUs, at least 1.

    Raises:
        ImportError: torch is not installed.
        ValueError: `devices` is not a positive integer.
        RuntimeError: a simulation with fewer GPUs is running already.

    Example:
        >>> import torch, samedevice
        >>> with samedevice.simulate_cuda(devices=2):
        ...     print(torch.zeros(2, device="cuda:1"))
        tensor([0., 0.], device='cuda:1')

    Without a `with` block: `simulation = simulate_cuda(2).start()` and, later, `simulation.stop()`.

    The rules: https://docs.pytorch.org/docs/stable/notes/cuda.html and, operator by operator, placement.py.
    """

    def __init__(self, devices: int = 1) -> None:
        if isinstance(devices, bool) or not isinstance(devices, int) or devices < 1:
            raise ValueError(
                f"devices must be an integer of at least 1, the number of GPUs to simulate; got {devices!r}"
            )
        self.devices = devices
        self._starts = 0

    def start(self) -> "simulate_cuda":
        """Begin; returns self."""
        _session.enter(self.devices)
        self._starts += 1
        return self

    def stop(self) -> None:
        """End what start began: when all have stopped, torch is as it was before."""
        if not self._starts:
            raise RuntimeError("this simulation is not running: call stop() once for each start()")
        self._starts -= 1
        _session.leave()

    def __enter__(self) -> "simulate_cuda":
        return self.start()

    def __exit__(self, *exception: object) -> None:
        self.stop()


class _Session:
    """The running simulation of this process, and how many have started it and not stopped."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._depth = 0
        self._devices = 0
        self._changed: list[tuple[Any, str, Any]] = []

    def enter(self, count: int) -> None:
        with self._lock:
            if self._depth and count > self._devices:
                raise RuntimeError(
                    f"a simulation of {self._devices} GPU(s) is running, so one of {count} cannot start inside it: "
                    f"start the outer one with simulate_cuda(devices={count})"
                )
            if not self._depth:
                self._devices = count
                self._change()
            self._depth += 1

    def leave(self) -> None:
        with self._lock:
            self._depth -= 1
            if not self._depth:
                self._restore()

    def _change(self) -> None:
        torch.overrides.get_default_nowrap_functions()  # cached: it must hold torch's own attributes, not ours
        devices.power_on(self._devices)
        randomness.forget()
        try:
            for part in _PARTS:
                for owner, name, replacement in part.replacements():
                    self._changed.append((owner, name, vars(owner).get(name, _MISSING)))
                    setattr(owner, name, replacement)
            placement.learn()
        except BaseException:
            self._restore()
            raise

    def _restore(self) -> None:
        while self._changed:
            owner, name, original = self._changed.pop()
            if original is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, original)
        devices.power_off()


_session = _Session()
