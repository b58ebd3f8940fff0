"""Run lessons with the device check off, and print which of their cells that show a failure then raise nothing.

Each lesson runs in a fork of this process, so that torch is imported once:
python lessons_without_the_check.py A.ipynb ...
"""

import contextlib
import io
import multiprocessing
import os
import sys
from pathlib import Path

import nbformat
import torch
from IPython.core.interactiveshell import InteractiveShell

from lessons import start
from samedevice.simulation import exchange, placement


def main(paths: list[str]) -> None:
    sys.modules["__main__"].__spec__ = None  # a spawned child then imports no script
    switch_the_check_off()
    for path in paths:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            try:
                for number in raise_nothing(Path(path)):
                    sys.__stdout__.write(f"{Path(path).name}::Cell {number}\n")
                sys.__stdout__.flush()
            finally:
                for process in multiprocessing.active_children():
                    process.kill()  # one that a later cell would have ended; it would hold our output open
                os._exit(0)
        assert os.waitpid(child, 0)[1] == 0, path


def switch_the_check_off() -> None:
    """The only place where a check is ever switched off: the product has no option for it."""
    judge = placement.judge

    def anything_goes(*args, **kwargs):
        try:
            return judge(*args, **kwargs)
        except RuntimeError:
            return torch.device("cuda", 0)

    placement.judge = anything_goes
    exchange.found_two_devices = lambda *devices: None


def raise_nothing(path: Path) -> list[int]:
    """The numbers of the code cells of a lesson that are to raise and do not."""
    shell = InteractiveShell.instance()
    code = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    raising = [number for number, cell in enumerate(code) if "raises-exception" in cell.metadata.get("tags", [])]
    found = []
    for number, cell in enumerate(code[: raising[-1] + 1]):
        if cell.source.startswith(("%%bash", "%run")):
            continue  # processes of their own, where the check is on; and an error of %run is no failure of the cell
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            result = shell.run_cell(cell.source)
        if number in raising and result.success:
            found.append(number)
    return found


if __name__ == "__main__":
    assert start  # imported before the forks
    main(sys.argv[1:])
