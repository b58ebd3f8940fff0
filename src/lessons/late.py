"""`late_copies`: copies to the CPU that are under way for as long as a GPU may let them be.

A simulated GPU has every copy done when its line is. Inside `late_copies`, the numbers of a `non_blocking` copy into
pinned memory arrive when the CPU next waits for the GPU, and not before: CUDA promises no more. Until then zeros are
read. A real GPU is kept busy before each such copy, so that its copy is late, too, and what is read is what the memory
held. A copy into memory that is not pinned is complete when its line is, here as on CUDA.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from lessons import gpus

# How long a real GPU is busy before a copy: about a fifth of a second.
_BUSY_CYCLES = 2**28


@contextlib.contextmanager
def late_copies() -> Iterator[None]:
    """Let each non_blocking copy to the CPU arrive only when the CPU waits for the GPU.

    The CPU waits in torch.cuda.synchronize(), in an event's or a stream's synchronize(), in a copy that is not
    non_blocking, and where it reads a number of the GPU's.

    Example:
        >>> x = torch.ones(3, device="cuda")
        >>> with late_copies():
        ...     copy = x.to("cpu", non_blocking=True)
        ...     print(copy.tolist())
        ...     torch.cuda.synchronize()
        ...     print(copy.tolist())
        [0.0, 0.0, 0.0]
        [1.0, 1.0, 1.0]
    """
    import torch  # here and below, so that `import lessons` stays light

    queue = _Queue(is_real=bool(gpus.real_gpus()))
    replaced: list[tuple[Any, str, Any]] = []

    def put(owner: Any, name: str, function: Any) -> None:
        # The class of simulated tensors has a __setattr__ of its own, which is for programs.
        (type.__setattr__ if isinstance(owner, type) else setattr)(owner, name, function)

    def replace(owner: Any, name: str, around: Callable[..., Any]) -> None:
        replaced.append((owner, name, getattr(owner, name)))
        put(owner, name, around(getattr(owner, name)))

    replace(torch.Tensor, "to", queue.around_to)
    replace(torch.Tensor, "copy_", queue.around_copy)
    replace(torch.Tensor, "cpu", queue.around_read)
    if not queue.is_real:
        from samedevice.simulation.tensor import classes
        from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor

        replace(SimulatedTensor, "tolist", queue.around_read)
        for name in ("item", "__float__", "__int__", "__bool__"):
            replace(classes.simulated, name, queue.around_read)
    for owner in (torch.cuda, torch.cuda.Event, torch.cuda.Stream):
        replace(owner, "synchronize", queue.around_wait)
    try:
        yield
    finally:
        queue.arrive()
        for owner, name, original in replaced:
            put(owner, name, original)


class _Queue:
    """The copies that are under way, and PyTorch's own functions with what they mean for them."""

    def __init__(self, is_real: bool) -> None:
        self.is_real = is_real
        self._under_way: list[tuple[Any, Any]] = []

    def arrive(self) -> None:
        """Bring the numbers of all copies that are under way."""
        for copy, numbers in self._under_way:
            copy.copy_(numbers)
        self._under_way.clear()

    def around_to(self, to: Callable[..., Any]) -> Callable[..., Any]:
        def late_to(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            # In each form of to(), non_blocking is the first truth value that has no name, and copy the second.
            unnamed = [arg for arg in args if isinstance(arg, bool)]
            non_blocking = kwargs.get("non_blocking", unnamed[:1] == [True])
            is_late = tensor.is_cuda and non_blocking
            self._keep_busy(is_late)
            copy = to(tensor, *args, **kwargs)
            if copy.device.type == tensor.device.type:
                return copy
            if is_late and copy.is_pinned():
                self._hold_back(copy)
            elif not non_blocking:
                self.arrive()
            return copy

        return late_to

    def around_copy(self, copy_: Callable[..., Any]) -> Callable[..., Any]:
        def late_copy(tensor: Any, source: Any, non_blocking: bool = False) -> Any:
            crosses = tensor.device.type != source.device.type
            is_late = crosses and source.is_cuda and non_blocking and tensor.is_pinned()
            if crosses and source.is_cuda and not is_late:
                self.arrive()
            self._keep_busy(is_late)
            copy_(tensor, source, non_blocking)
            if is_late:
                self._hold_back(tensor)
            return tensor

        return late_copy

    def around_read(self, read: Callable[..., Any]) -> Callable[..., Any]:
        def late_read(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            if tensor.is_cuda:
                self.arrive()
            return read(tensor, *args, **kwargs)

        return late_read

    def around_wait(self, wait: Callable[..., Any]) -> Callable[..., Any]:
        def late_wait(*args: Any, **kwargs: Any) -> Any:
            self.arrive()
            return wait(*args, **kwargs)

        return late_wait

    def _keep_busy(self, is_late: bool) -> None:
        if is_late and self.is_real:
            import torch

            torch.cuda._sleep(_BUSY_CYCLES)

    def _hold_back(self, copy: Any) -> None:
        if not self.is_real:
            copy = copy.detach()
            self._under_way.append((copy, copy.clone()))
            copy.zero_()
