"""Weakened modules, each tried in a fork of one process: torch is imported and the tests are collected once.

In the fork the weakened code runs in the namespace of the module that it stands for, and then the tests run until the
first failure. A mutant without one has survived: nobody would notice if the check were so weak.
"""

import importlib
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import FunctionType

import pytest

from mutation.weakening import Mutant

SECONDS = 900  # that a fork may take. One that hangs counts as not noticed: somebody has to look.
GREEN, RED, BROKEN = 0, 1, 2


@dataclass(frozen=True)
class Weakened:
    """A mutant, the module that it stands for, and which of the tests have to notice it."""

    module: str
    mutant: Mutant
    tests: Callable[[pytest.Item], bool]


def survivors(weakened: list[Weakened], tests: list[Path]) -> list[Weakened]:
    """Try all; return those whose tests passed.

    Args:
        weakened: what to try; those of one module, with the same tests, stand together.
        tests: the files of tests to collect.

    Raises:
        SystemExit: the tests cannot be collected, or one fails though nothing is weakened.
        RuntimeError: a fork failed otherwise than by its tests.
    """
    trial = _Trial(weakened)
    # -s, as forks share what pytest would capture into; the forks themselves are silent.
    options = ["-q", "-s", "--no-header", "--no-summary", "-p", "no:cacheprovider"]
    # samedevice is a plugin of pytest, too, and has been imported before it.
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    if pytest.main([*options, *map(str, tests)], [trial]) != pytest.ExitCode.OK:
        raise SystemExit("The tests of the exercises are red already, without a mutant: run pytest tests/lessons.")
    return trial.survived


class _Trial:
    """A plugin of pytest that runs the tests once for every mutant, instead of once."""

    def __init__(self, weakened: list[Weakened]) -> None:
        self.weakened = weakened
        self.survived: list[Weakened] = []
        self.loud = False

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for (module, tests), mutants in groupby(self.weakened, lambda one: (one.module, one.tests)):
            print(f"{module} ...", flush=True)
            chosen = [item for item in session.items if tests(item)]
            if session.testsfailed or self.noticed(session, chosen):
                session.testsfailed = 1
                break
            for one in mutants:
                if not self.noticed(session, chosen, one):
                    self.survived.append(one)
                    print(f"  {one.mutant.line}: {one.mutant.change}: not noticed", flush=True)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self.loud and report.failed:
            os.write(self.terminal, f"{report.nodeid}\n{report.longreprtext}\n".encode())

    def noticed(self, session: pytest.Session, items: list[pytest.Item], weakened: Weakened | None = None) -> bool:
        """Whether one of the tests fails, in a fork."""
        child = os.fork()
        if child == 0:
            result, self.loud = BROKEN, weakened is None
            try:
                self.terminal = os.dup(2)
                sink = os.open(os.devnull, os.O_WRONLY)
                os.dup2(sink, 1)
                os.dup2(sink, 2)
                signal.alarm(SECONDS)
                if weakened:
                    _put_in_place(weakened)
                for item, following in zip(items, [*items[1:], None], strict=True):
                    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                    if session.testsfailed:
                        break
                result = RED if session.testsfailed else GREEN
            finally:
                os._exit(result)
        result = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if result == BROKEN:
            raise RuntimeError(f"the tests could not be run with {weakened}")
        return result == RED


def _put_in_place(weakened: Weakened) -> None:
    """Run the code in its module; and in functions that the tests have by name already."""
    module = importlib.import_module(weakened.module)
    known = {name: one for name, one in vars(module).items() if isinstance(one, FunctionType)}
    exec(weakened.mutant.code, vars(module))
    for name, function in known.items():
        if function.__module__ == weakened.module:
            function.__code__ = vars(module)[name].__code__
