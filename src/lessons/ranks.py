"""`torchrun`: what the command of that name does on one machine, shown as a page needs it.

It starts a program once for each rank. Then it shows what each rank printed, and raises the error that came first. The
command itself also prints times, addresses and process ids, and the traceback of every rank.
"""

import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import IO

_LONGEST = 120  # seconds: a rank that waits for another one waits for minutes
_LINE = re.compile(r"\[rank(\d+)\]: ?(.*)")  # PyTorch marks so what a rank raises
_FRAME = re.compile(r'  File "(.+)", line (\d+), in ')
_AT_ITS_END = "terminate called without an active exception"
_ERROR = re.compile(r"\w+(?:\.\w+)*(?:Error|Exception): ")


def torchrun(arguments: str) -> None:
    """Start a program once for each rank, as `torchrun` does; print the lines of each rank, and raise the first error.

    A rank that fails takes the others with it. What they raise then, such as "Connection closed by peer", is left out.

    Args:
        arguments: as typed behind the command: "--nproc-per-node=2 train.py".

    Raises:
        RuntimeError: a rank failed; the text is that of its error.
        TimeoutError: the ranks still run after two minutes.

    Example:
        >>> torchrun("--nproc-per-node=2 train.py")  # doctest: +SKIP
        rank 0, step 0: loss 68
        rank 1, step 0: loss 57
    """
    parser = argparse.ArgumentParser(prog="torchrun", exit_on_error=False)
    parser.add_argument("--nproc-per-node", type=int, default=1)
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args(shlex.split(arguments))
    printed, errors = _run_all(options.program, options.nproc_per_node)
    for text in printed:
        print(text, end="")
    if errors is not None:
        rank, traceback = _first(errors)
        if traceback:
            print(f"[rank{rank}] failed in {_where(traceback)}")
        raise _raised(errors)


def run_on_ranks(program: list[str], ranks: int) -> list[str]:
    """Start a program once for each rank, and return what each of them printed.

    Raises:
        RuntimeError: a rank failed; the text is that of its error.
        TimeoutError: the ranks still run after two minutes.
    """
    printed, errors = _run_all(program, ranks)
    if errors is not None:
        raise _raised(errors)
    return printed


def _run_all(program: list[str], ranks: int) -> tuple[list[str], str | None]:
    """Return what each rank printed, and what all of them wrote of their errors; None if none failed."""
    with tempfile.TemporaryDirectory() as folder:
        printed = [Path(folder, f"{rank}.txt") for rank in range(ranks)]
        raised = Path(folder, "raised.txt")
        failed = _run(program, printed, raised)
        texts = [path.read_text("utf-8") for path in printed]
        return texts, raised.read_text("utf-8", errors="replace") if failed else None


def _raised(errors: str) -> RuntimeError:
    _, traceback = _first(errors)
    return RuntimeError(_error(traceback) if traceback else errors.strip() or "a rank ended without an error")


def _run(program: list[str], printed: list[Path], raised: Path) -> bool:
    """Start the ranks and wait until all have ended, or one has failed; say whether one has."""
    from torch.distributed import TCPStore  # here, so that `import lessons` stays light

    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)  # where the ranks find each other
    shared = {
        **os.environ,
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(store.port),
        "TORCHELASTIC_USE_AGENT_STORE": "True",
        "TORCHELASTIC_RESTART_COUNT": "0",
        "WORLD_SIZE": str(len(printed)),
        "LOCAL_WORLD_SIZE": str(len(printed)),
        "OMP_NUM_THREADS": "1",
        "PYTHONUNBUFFERED": "1",  # a rank that is ended has told until then what it had to tell
        "PYTHON_COLORS": "0",  # a notebook's kernel asks for colours, and from 3.13 on Python gives a traceback some
    }

    def start(rank: int, out: Path, errors: IO[bytes]) -> subprocess.Popen[bytes]:
        own = {"RANK": str(rank), "LOCAL_RANK": str(rank)}
        with out.open("wb") as file:
            return subprocess.Popen([sys.executable, *program], stdout=file, stderr=errors, env={**shared, **own})

    with raised.open("ab") as errors:
        ranks = [start(rank, out, errors) for rank, out in enumerate(printed)]
        try:
            return _failed(ranks, raised)
        finally:
            for process in ranks:
                process.terminate()
            for process in ranks:
                process.wait()


def _failed(ranks: list[subprocess.Popen[bytes]], raised: Path) -> bool:
    end = time.monotonic() + _LONGEST
    while time.monotonic() < end:
        codes = [process.poll() for process in ranks]
        if any(code and not _had_ended(code, raised) for code in codes):
            return True
        if None not in codes:
            return False
        time.sleep(0.05)
    raise TimeoutError(f"after {_LONGEST} s the ranks still run: one may wait for another")


def _had_ended(code: int, raised: Path) -> bool:
    """Tell whether a rank was at its end, where a thread of gloo may abort it.


    The thread still holds a tensor whose memory is Python's, and Python is gone
    (https://github.com/pytorch/pytorch/pull/179291).
    """
    errors = raised.read_text("utf-8", errors="replace")
    return code == -signal.SIGABRT and _AT_ITS_END in errors and "Traceback " not in errors


def _first(errors: str) -> tuple[int, list[str]]:
    """Return the rank that raised first, and its traceback; another one may write between its lines.

    PyTorch does not mark the lines of a program that has not joined a group: they count as rank 0's.
    """
    written = errors.splitlines()
    lines = [(int(line[1]), line[2]) for line in map(_LINE.match, written) if line] or [(0, line) for line in written]
    first = next((rank for rank, text in lines if text.startswith("Traceback ")), -1)
    own = [text for rank, text in lines if rank == first]
    begin = next((number for number, text in enumerate(own) if text.startswith("Traceback ")), 0)
    return first, own[begin:]


def _where(traceback: list[str]) -> str:
    """Return the last line of the program's own files: `train.py, line 19: loss.backward()`."""
    frames = [(frame, source) for line, source in pairwise(traceback) if (frame := _FRAME.match(line))]
    own = [(frame, source) for frame, source in frames if "-packages" not in frame[1]]
    frame, source = (own or frames)[-1]
    return f"{Path(frame[1]).name}, line {frame[2]}: {source.strip()}"


def _error(traceback: list[str]) -> str:
    begin = next((number for number, line in enumerate(traceback) if _ERROR.match(line)), len(traceback) - 1)
    text = "\n".join(traceback[begin:]).partition(": ")[2].rstrip()
    return text.replace(f"{Path.cwd()}{os.sep}", "")  # torch.compile quotes the program's own lines
