"""Run lessons with the checks of checks_off.py off, and print which of their cells that show a failure raise nothing.

Each lesson runs in a fork of this process, so that torch is imported once. One that waits for ever is ended with all
that it started, and named:
python lessons_without_the_checks.py A.ipynb ...
"""

import contextlib
import io
import multiprocessing
import os
import signal
import sys
import time
import traceback
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # a forked child that computes would wait for the threads of its parent

import nbformat
from checks_off import switch_the_checks_off
from IPython.core.interactiveshell import InteractiveShell

from lessons import start

LONGEST = 120  # seconds for a lesson; each takes about 5, and 13 beside other work


def main(paths: list[str]) -> None:
    sys.modules["__main__"].__spec__ = None  # a spawned child then imports no script
    switch_the_checks_off()
    for path in paths:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            os.setsid()  # a group of its own, with the processes that the lesson starts
            try:
                for number in raise_nothing(Path(path)):
                    sys.__stdout__.write(f"{Path(path).name}::Cell {number}\n")
                sys.__stdout__.flush()
                status = 0
            except BaseException:
                traceback.print_exc()
                status = 1
            finally:
                for process in multiprocessing.active_children():
                    process.kill()  # one that a later cell would have ended; it would hold our output open
                os._exit(status)
        if ended := how_it_ends(child, time.monotonic() + LONGEST):
            sys.exit(f"{path}: {ended}")


def how_it_ends(child: int, deadline: float) -> str:
    """Wait until a lesson ends, or end it when its time is over; return what went wrong, or ""."""
    while time.monotonic() < deadline:
        process, status = os.waitpid(child, os.WNOHANG)
        if process:
            return f"ended with status {status}" if status else ""
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return f"still running after {LONGEST} seconds"


def raise_nothing(path: Path) -> list[int]:
    """The numbers of the code cells of a lesson that are to raise and do not."""
    shell = InteractiveShell.instance()
    code = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    raising = [number for number, cell in enumerate(code) if "raises-exception" in cell.metadata.get("tags", [])]
    found = []
    for number, cell in enumerate(code[: raising[-1] + 1]):
        if cell.source.startswith(("!", "%%bash")) or (cell.source.startswith("%run") and number in raising):
            continue  # processes of their own, where the check is on; and an error of %run is no failure of the cell
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            result = shell.run_cell(cell.source)
        if number in raising and result.success:
            found.append(number)
    return found


if __name__ == "__main__":
    assert start  # imported before the forks
    main(sys.argv[1:])
