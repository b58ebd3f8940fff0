"""The runs of `samedevice fix`: what to run, until when, and each run as a process of its own (trial.py)."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from samedevice.doctor.fix_outcomes import Failure, Files, Run
from samedevice.doors.program import Misuse
from samedevice.doors.stderr import say

_SIMULATION = re.compile(r"samedevice: \d+ simulated GPU")
_USAGE_ERROR = 4  # https://docs.pytest.org/en/stable/reference/exit-codes.html


@dataclass(frozen=True)
class Limits:
    """Where to end.

    Attributes:
        rounds: how many runs.
        seconds: for all of them together.
        steps: after how many steps of its optimizers a run is ended; None for not at all.
    """

    rounds: int
    seconds: float
    steps: int | None


@dataclass(frozen=True)
class Target:
    """What to run.

    Attributes:
        name: a script's path, or a module's name; "" for pytest.
        arguments: what follows it.
        is_module, is_pytest: which of these it is.
    """

    name: str
    arguments: Sequence[str]
    is_module: bool = False
    is_pytest: bool = False

    def __str__(self) -> str:
        return "the tests" if self.is_pytest else self.name

    @property
    def folder(self) -> Path:
        """The program's folder: the current one, or the script's if that one is elsewhere."""
        here = Path.cwd().resolve()
        if self.is_module or self.is_pytest:
            return here
        program = Path(self.name).resolve()
        beside = program if program.is_dir() else program.parent
        return here if beside.is_relative_to(here) else beside


class Runs:
    """The runs of a program, each in a process of its own."""

    def __init__(self, target: Target, gpus: int | None, gpu_type: str | None, limits: Limits, place: Path) -> None:
        self._target, self._gpus, self._type, self._steps, self._place = target, gpus, gpu_type, limits.steps, place
        self._deadline = time.monotonic() + limits.seconds
        self.began = time.time()
        self.last_words = ""  # what the last run printed on stderr

    def run(self, files: Files) -> Run:
        """Run the program with these files in the place of those on the disk.

        Raises:
            Misuse: it cannot be run.
        """
        return self._run(files, self._gpus)

    def unlike_on_the_cpu(self, output: str) -> str:
        """Compare with what the program as it was prints on the CPU, and return the first line that differs, or "".

        Where a fix has changed what the program computes, the numbers differ: simulated GPUs draw the CPU's random
        numbers here, and compute what the CPU does. If it fails on the CPU, there is nothing to compare.
        """
        plain = self._run({}, 0)
        if plain.exit_code != 0 or plain.failures:
            return ""
        for line, fixed in zip_longest(plain.output.splitlines(), output.splitlines(), fillvalue=""):
            if _without_devices(line) != _without_devices(fixed):
                return f"{fixed.strip()!a}, on the CPU {line.strip()!a}"
        return ""

    def _run(self, files: Files, gpus: int | None) -> Run:
        job = {
            "name": self._target.name,
            "arguments": list(self._target.arguments),
            "is_module": self._target.is_module,
            "pytest": list(self._target.arguments) if self._target.is_pytest else None,
            "gpus": gpus,
            "gpu_type": self._type,
            "steps": self._steps,
            "folder": str(self._target.folder),
            "files": {str(path): file.content.decode("latin-1") for path, file in files.items()},
            "report": str(self._place / "report.json"),
        }
        (self._place / "job.json").write_text(json.dumps(job), "utf-8")
        (self._place / "report.json").unlink(missing_ok=True)
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        if gpus == 0:
            environment["CUDA_VISIBLE_DEVICES"] = ""
        command = [sys.executable, "-m", "samedevice.doors.trial", str(self._place / "job.json")]
        started = time.monotonic()
        with (self._place / "out").open("wb") as out, (self._place / "err").open("wb") as err:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=environment,
                start_new_session=os.name == "posix",
            )
            code = self._wait(process, started)
        seconds = time.monotonic() - started
        self.last_words = _read(self._place / "err")
        report: dict[str, Any] = {"failures": [], "passed": [], "misuse": "", "used_a_gpu": True}
        with contextlib.suppress(OSError, ValueError):  # a program may have ended its process by itself
            report = json.loads((self._place / "report.json").read_text("utf-8"))
        if report["misuse"]:
            raise Misuse(report["misuse"])
        if self._target.is_pytest and code == _USAGE_ERROR:
            errors = [line for line in self.last_words.splitlines() if "error: " in line.lower()]
            raise Misuse(f"pytest cannot run this: {last_line(errors[-1] if errors else self.last_words)}.")
        failures = tuple(
            Failure(each["test"], each["type"], each["message"], tuple(map(tuple, each["stack"])), each["diagnosis"])
            for each in report["failures"]
        )
        output = _read(self._place / "out")
        return Run(failures, code, seconds, frozenset(report["passed"]), output, report["used_a_gpu"])

    def _wait(self, process: "subprocess.Popen[bytes]", started: float) -> int | None:
        """Wait for the end of a run, and say now and then that it goes on. Return None where the time is over."""
        said = started
        try:
            while True:
                left = self._deadline - time.monotonic()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    return process.wait(max(0.0, min(left, 5.0)))
                now = time.monotonic()
                if now >= self._deadline:
                    return None
                if now - said > 15:
                    say(f"this run has taken {now - started:.0f} s so far.")
                    said = now
        finally:
            _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process, and those that it has started and left."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _without_devices(line: str) -> str:
    """Leave out the names of devices, which differ between a CPU and a GPU without being wrong."""
    return re.sub(r"\b(cuda(:\d+)?|cpu|gpu)\b|, device='[^']*'", "", line, flags=re.IGNORECASE)


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def last_line(words: str) -> str:
    """Return the last line of what a program printed that is not empty, nor ours about the simulation."""
    lines = [line.strip() for line in words.splitlines() if line.strip() and not _SIMULATION.match(line)]
    return lines[-1].removeprefix("samedevice: ").rstrip(".") if lines else ""
