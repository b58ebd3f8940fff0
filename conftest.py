"""The guard over nbval: a lesson passes only where its errors were really raised, and raised as stored.

nbval takes the tag `raises-exception` as leave to raise, not as a duty: it passes a tagged cell that raises nothing,
and one that was never executed (https://github.com/computationalmodelling/nbval/issues/108). It also passes a plot that
is gone. Here these fail. A cell that calls `measured` has the tag nbval-ignore-output, for a real GPU's numbers differ
from run to run; what it prints on simulated GPUs is compared here. And with SAMEDEVICE_GPUS=real, a notebook that needs
more GPUs than there are is skipped.
"""

import gc
import itertools
import os
import signal
from collections.abc import Generator
from pathlib import Path
from typing import Any

import nbformat
import nbval.kernel
import pytest
from jupyter_client.manager import KernelManager
from nbformat import NotebookNode
from nbformat.reader import NotJSONError
from nbval.plugin import IPyNbCell

from kernel_sockets import sockets_as_files
from lessons.measured import HERE
from warm import POSSIBLE, Forks

# As many tests run at once as there are cores, and small tensors gain nothing from a second thread: where two processes
# wait for each other's threads, a lesson takes four times as long. Set before torch is imported, here and in kernels.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A shell that runs a script starts `command &` with SIGINT ignored, and every process started from there inherits that:
# a test that interrupts one would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


_started_before = itertools.count()


def kernel_manager(**options: Any) -> KernelManager:
    manager = KernelManager(**options, **sockets_as_files())
    # The first is an ordinary kernel: where no second follows, a process to fork would be warmed for nothing. And a
    # real GPU's driver is best met by a process that was never forked.
    if next(_started_before) and POSSIBLE and os.environ.get("SAMEDEVICE_GPUS") != "real":
        manager.provisioner = Forks(kernel_spec=manager.kernel_spec, parent=manager)
    return manager


# nbval has no option for how it starts and reaches a kernel.
nbval.kernel.KernelManager = kernel_manager


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Spare the garbage collector what the tests import, which lives as long as the process.

    That is a million objects, with PyTorch's own lists of operators and transformers among them. Each test that
    collects garbage, as IPython does at the end of a shell, would look at them all, for half a second. A tensor that a
    file of tests makes as it is imported cannot be found by made_inside.py then: make it in the test.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    result = yield
    if isinstance(item, IPyNbCell):
        complaint = judge(item)
        if complaint:
            item.raise_cell_error(complaint)
    return result


def pytest_collect_file(file_path: Path) -> None:
    if file_path.suffix == ".ipynb":
        try:
            nbformat.reads(file_path.read_text("utf-8"), as_version=4)
        except NotJSONError:
            raise pytest.UsageError(f"{file_path.name} is not JSON: a merge may have left its marks in it.") from None


def judge(item: IPyNbCell) -> str | None:
    """Say what is wrong with a cell that nbval let pass, or None."""
    stored, new = item.cell.outputs, item.test_outputs
    if item.cell.execution_count is None:
        return "This cell was never executed, so nothing is stored to compare with: run `make notebooks`."
    if item.options["check_exception"]:
        if not errors(new, item):
            return "This cell is tagged raises-exception, but it raised nothing."
        if not errors(stored, item):
            return "This cell is tagged raises-exception, but no error is stored: run `make notebooks`."
        if errors(new, item) != errors(stored, item):
            return f"This cell raised {errors(new, item)}, but {errors(stored, item)} is stored."
    if images(new) != images(stored):
        return f"This cell shows the images {images(new)}, but {images(stored)} are stored."
    if "measured(" in item.cell.source and not printed(new).startswith(HERE) and printed(new) != printed(stored):
        return f"This cell measured nothing and printed {printed(new)!r}, but {printed(stored)!r} is stored."
    return None


def errors(outputs: list[NotebookNode], item: IPyNbCell) -> list[tuple[str, str]]:
    return [(out.ename, item.sanitize(out.evalue)) for out in outputs if out.output_type == "error"]


def printed(outputs: list[NotebookNode]) -> str:
    return "".join(out.text for out in outputs if out.output_type == "stream")


def images(outputs: list[NotebookNode]) -> list[str]:
    """The kinds of the pictures shown, in order: pixels depend on the machine, that there is one does not."""
    return [kind for out in outputs for kind in out.get("data", {}) if kind in ("image/png", "image/jpeg")]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    cells = [item for item in items if isinstance(item, IPyNbCell)]
    if not cells or os.environ.get("SAMEDEVICE_GPUS") != "real":
        return
    import torch  # here, because a run without real GPUs needs no torch in pytest's own process

    found = torch.cuda.device_count()
    for cell in cells:
        needed = cell.parent.nb.metadata.get("gpus", 1)
        if needed > found:
            cell.add_marker(pytest.mark.skip(reason=f"needs {needed} GPUs, this machine has {found}"))
