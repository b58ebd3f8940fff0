"""Whether a TorchDispatchMode of the program's sees what happens, and what it then sees.

The simulation makes a tensor on a GPU, and moves one, by operators on the CPU, which are its own affair. So while a
mode is on, a factory or a move calls PyTorch's own operator with the devices that the program names: PyTorch hands it
to the modes (c10/core/impl/TorchDispatchModeTLS.h), and what they let through comes to
SimulatedTensor.__torch_dispatch__ or, where no tensor is simulated yet, to allocation.py.
"""

import contextlib
import threading
from collections.abc import Iterator

import torch

from samedevice.simulation import state

_how_many = torch._C._len_torch_dispatch_stack
_is_excluded = torch._C._dispatch_tls_is_dispatch_key_excluded
_level = torch._C._functorch.peek_interpreter_stack
_mode, _FAKE = torch._C._get_dispatch_mode, torch._C._TorchDispatchModeKey.FAKE
_PYTHON = torch._C.DispatchKey.Python

unseen = torch._C._DisableTorchDispatch  # inside, no mode sees anything

_local = threading.local()


def now() -> bool:
    """Whether a mode sees what this thread does; not inside torch.func, which wraps tensors on its own."""
    return bool(_how_many()) and not _is_excluded(_PYTHON) and _level() is None


def faking() -> bool:
    """Whether a FakeTensorMode is on, inside torch.func too: what is made is a fake tensor."""
    return bool(_how_many()) and _mode(_FAKE) is not None and not _is_excluded(_PYTHON)


def enter() -> None:
    """Note that this thread enters a mode."""
    state.now.modes.entered = _entered() + 1


def leave() -> None:
    """Note that this thread leaves a mode."""
    state.now.modes.entered = _entered() - 1


def entered() -> bool:
    """Whether this thread is in the block of a mode; in its __torch_dispatch__ too, where C++ has put it aside.

    PyTorch's own flag (torch/utils/_python_dispatch.py, is_in_torch_dispatch_mode) is of no use here: it belongs to the
    process. A mode of another thread counts in it, and it stays on for good where two threads overlap: who enters as
    the second finds it on, and puts that back when the first has left already.
    """
    return _entered() > 0


def _entered() -> int:
    how_many: int = getattr(state.now.modes, "entered", _how_many())
    return how_many


@contextlib.contextmanager
def asking() -> Iterator[None]:
    """Inside, an operator that names the CPU means the CPU.

    Elsewhere it is C++ that names it: it takes a simulated tensor for one on the CPU and means "where my input is".
    """
    before = asked()
    _local.asked = True
    try:
        yield
    finally:
        _local.asked = before


def asked() -> bool:
    """Whether the program has named the device of the operator that runs."""
    return getattr(_local, "asked", False)
