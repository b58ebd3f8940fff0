"""One run of a program for `samedevice fix`: with edits that stand in no file, and with a report of what came of it.

It is a process of its own, `python -m samedevice.doors.trial JOB`. JOB is a file of JSON, which says what to run and
where to write the report. fix_runs.py starts it and reads the report.
"""

import json
import os
import random
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

import samedevice.doors.read_edited as read_edited
from samedevice.doors import program
from samedevice.doors.after_import import after_import
from samedevice.doors.where_they_fail import explain_where_they_fail
from samedevice.introspect import exceptions
from samedevice.introspect.libraries import is_library


class Enough(BaseException):
    """Ends a program after so many steps of its optimizers. It is no Exception, so that a program lets it through."""


class Report:
    """What came of the run, written as soon as it is known: a program may end its process by itself."""

    def __init__(self, job: dict[str, Any]) -> None:
        self._path = Path(job["report"])
        self._folder = job["folder"]
        self._data: dict[str, Any] = {"failures": [], "passed": [], "misuse": "", "used_a_gpu": False}

    def failed(self, error: BaseException, test: str = "") -> None:
        """Note an error, with what the doctor says of it."""
        from samedevice.doctor import explain
        from samedevice.doctor.diagnosis_json import as_data

        self._data["failures"].append(
            {
                "test": test,
                "type": exceptions.name(error),
                "message": exceptions.message(error),
                "stack": self._stack(error),
                "diagnosis": as_data(explain(error)),
            }
        )
        self._write()

    def passed(self, test: str) -> None:
        """Note a test that passed."""
        self._data["passed"].append(test)

    def refused(self, misuse: str) -> None:
        """Note why the program cannot be run."""
        self._data["misuse"] = misuse
        self._write()

    def ended(self) -> None:
        """Note the end of the program, while the simulation still runs."""
        if "samedevice.simulation" in sys.modules:
            from samedevice.simulation.device import devices

            self._data["used_a_gpu"] = devices.used()
        self._write()

    def _stack(self, error: BaseException) -> list[tuple[str, int]]:
        """Return the file and the line of the program's own frames."""
        frames = []
        trace = exceptions.traceback(error)
        while trace is not None:
            file = trace.tb_frame.f_code.co_filename
            if not is_library(file) and Path(file).resolve().is_relative_to(self._folder):
                frames.append((file, trace.tb_lineno))
            trace = trace.tb_next
        return frames

    def _write(self) -> None:
        self._path.write_text(json.dumps(self._data), "utf-8")


def main(job_file: str) -> int:
    """Run what a job says.

    Args:
        job_file: the path of the job.

    Returns:
        The exit code of a program that came to its end.
    """
    job = json.loads(Path(job_file).read_text("utf-8"))
    report = Report(job)
    read_edited.begin({path: content.encode("latin-1") for path, content in job["files"].items()})
    explain_where_they_fail()
    after_import("torch", lambda: _prepare(job["steps"]))
    after_import("numpy", lambda: sys.modules["numpy"].random.seed(0))
    random.seed(0)
    if job["pytest"] is not None:
        return _run_tests(job, report)
    return _run_program(job, report)


def _run_program(job: dict[str, Any], report: Report) -> int:
    if job["gpus"]:
        from samedevice.doors.simulated import Simulated

        Simulated(job["gpus"], rng="cpu", gpu_type=job["gpu_type"])
    try:
        named = (program.module if job["is_module"] else program.named)(job["name"])
    except program.Misuse as misuse:  # it was there when `fix` began
        report.refused(str(misuse))
        return 2
    hook = threading.excepthook

    def in_thread(args: Any) -> None:
        if args.exc_value is None or isinstance(args.exc_value, SystemExit | Enough):
            return  # these end a thread, and are no error
        report.failed(args.exc_value)
        hook(args)

    threading.excepthook = in_thread
    named.become_main(job["arguments"])
    try:
        named.execute()
    except Enough:
        pass
    except program.Misuse as misuse:
        report.refused(str(misuse))
        return 2
    except SystemExit as ended:
        # A wrapper such as Hydra's prints the error by itself, and exits.
        if ended.code not in (None, 0) and isinstance(ended.__context__, Exception):
            _fail(ended.__context__, report)
        report.ended()
        raise
    except BaseException as error:
        traceback.print_exception(error)
        _fail(error, report)
    report.ended()
    return 0


def _fail(error: BaseException, report: Report) -> None:
    """Note the error that ended the program, and end the process, whatever threads and processes it still has."""
    report.failed(error)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(1)


def _prepare(steps: int | None) -> None:
    """Let two runs draw the same numbers, and end a run after some steps of its optimizers, if so asked."""
    import torch

    torch.manual_seed(0)
    if steps is None:
        return
    left = [steps]

    def count(*_: Any) -> None:
        left[0] -= 1
        if left[0] <= 0:  # another thread may have ended by it
            raise Enough

    from torch.optim.optimizer import register_optimizer_step_post_hook

    register_optimizer_step_post_hook(count)


def _run_tests(job: dict[str, Any], report: Report) -> int:
    import pytest

    class Collector:
        @pytest.hookimpl(wrapper=True)
        def pytest_load_initial_conftests(self, early_config: Any) -> Any:
            known = early_config.known_args_namespace
            if job["gpus"] or not getattr(known, "simulate_cuda", None):
                known.simulate_cuda = str(job["gpus"] or 1)
            return (yield)

        @pytest.hookimpl(wrapper=True)
        def pytest_cmdline_main(self, config: Any) -> Any:
            if hasattr(config.option, "numprocesses"):
                config.option.numprocesses = 0  # pytest-xdist would run the tests in processes without the edits
            return (yield)

        @pytest.hookimpl(tryfirst=True)
        def pytest_exception_interact(self, node: Any, call: Any) -> None:
            report.failed(call.excinfo.value, node.nodeid)

        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.when == "call" and report.passed:
                noted.passed(report.nodeid)

        @pytest.hookimpl(tryfirst=True)
        def pytest_sessionfinish(self) -> None:
            noted.ended()

    noted = report
    # pytest would rewrite a module of tests from the disk.
    options = ["--assert=plain", *(["--gpu-type", job["gpu_type"]] if job["gpu_type"] else [])]
    return int(pytest.main([*job["pytest"], *options], plugins=[Collector()]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
