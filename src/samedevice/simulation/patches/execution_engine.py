"""`Variable._execution_engine`, through which libraries such as FSDP have something called when backward has ended."""

from collections.abc import Callable, Iterator
from typing import Any

from torch.autograd import Variable

from samedevice.simulation.device import in_backward

_engine: Any = Variable._execution_engine


class _ExecutionEngine:
    """PyTorch's engine, whose callbacks see the GPU that they would see on CUDA."""

    def __getattr__(self, name: str) -> Any:
        return getattr(_engine, name)

    def queue_callback(self, callback: Callable[[], object]) -> None:
        _engine.queue_callback(in_backward.at_the_end(callback))


def replacements() -> Iterator[tuple[object, str, object]]:
    yield Variable, "_execution_engine", _ExecutionEngine()
