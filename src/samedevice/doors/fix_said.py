"""What `samedevice fix` says on stderr: what each run came to, what it tries, and what is reached at the end."""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from samedevice.doctor.fix_outcomes import Failure, Fix, fixes_of
from samedevice.doctor.fixing import State, is_within
from samedevice.doors.fix_runs import Limits, Runs, Target, last_line
from samedevice.doors.stderr import say
from samedevice.introspect.libraries import is_library
from samedevice.plurals import counted

_LONG = 60  # seconds, from which on it is worth to end a run early
_NAMED = 3  # files that the program writes, and errors that are left


class Said:
    """What is said on stderr while the program is run again and again."""

    def __init__(self, target: Target, folder: Path, limits: Limits, runs: Runs) -> None:
        self._target, self._folder, self._limits, self._runs = target, folder, limits, runs
        self._taken_back = 0
        self._warned = False
        self._words = ""
        self.interrupted = False
        self.state = State({})

    def before(self, gpus: int | None, gpu_type: str | None) -> None:
        enough = f", each run for {counted(self._limits.steps, 'step')}" if self._limits.steps else ""
        where = counted(gpus, "simulated GPU") if gpus else "simulated GPUs"
        again = "They are" if self._target.is_pytest else "It is"
        model = f" ({gpu_type})" if gpu_type else ""
        say(f"running {self._target} on {where}{model}{enough}. {again} run again after each fix.")

    def after(self, state: State, trying: Sequence[Fix]) -> None:
        """Say what a run came to, and what is tried next."""
        self.state = state
        self._words = self._runs.last_words
        for fix, reason in state.taken_back[self._taken_back :]:
            say(f"run {state.runs}: the change of {fix.place} is taken back, since {reason}.")
        self._taken_back = len(state.taken_back)
        if trying and not self._warned:
            self._warned = True
            self._warn(state)
        for fix in trying:
            say(f"run {state.runs}: {_wrong(fix.culprit)} ({fix.message_id}). Trying a change of {fix.place}.")

    def _warn(self, state: State) -> None:
        """Warn of a program that writes files or takes long, as it will be run again."""
        if written := _written_since(self._runs.began, self._folder):
            names = ", ".join(written[:_NAMED]) + (" and others" if len(written) > _NAMED else "")
            say(f"the program writes files ({names}), and will write them again in each run.")
        if state.run and state.run.seconds > _LONG and not self._limits.steps:
            say("a run takes long: --steps 20 would end each one after 20 steps of the optimizers.")

    def comparing(self) -> None:
        say(f"run {self.state.runs} ended. Once more on the CPU without the changes, to compare what it prints.")

    def at_the_end(self, state: State, unlike: str) -> None:
        """Say what is reached and what is left."""
        run = state.run
        fixed = f"{counted(len(state.fixes), 'error')} fixed in {counted(len(state.files), 'file')}"
        reached = f"{counted(state.runs, 'run')}, {fixed if state.fixes else 'nothing fixed'}"
        if self.interrupted or run is None:
            say(f"interrupted after {reached}.")
            return
        if state.has_succeeded:
            end = " for so many steps" if self._limits.steps else " to its end"
            say(f"{self._target} {'pass' if self._target.is_pytest else f'runs{end}'}: {reached}.")
            if "Traceback (most recent call last)" in self._words:
                say(f"it printed the traceback of an error that it went on after: {last_line(self._words)}.")
            if not run.used_a_gpu:
                say("it used no GPU, so nothing was tried: has it an option for the device?")
            if unlike:
                say(
                    f"look at the changes: the program now prints {unlike}. That is no error if it is a time or a path."
                )
            return
        say(f"something is left after {reached}.")
        if run.exit_code is None:
            say(f"the time was over ({self._limits.seconds:.0f} s; --timeout gives it more).")
        elif not run.failures:
            words = last_line(self._runs.last_words) or last_line(run.output)
            say(f"{self._target} ended with exit code {run.exit_code}{f': {words}' if words else ''}.")
        for failure in run.failures[:_NAMED]:
            say(_left(failure, state, self._folder, self._limits))
        if len(run.failures) > _NAMED:
            say(f"and {counted(len(run.failures) - _NAMED, 'other error')}.")


def _wrong(culprit: Any) -> str:
    return f"`{' '.join(culprit['expression'].split())}` is on {culprit['device']}"


def _left(failure: Failure, state: State, folder: Path, limits: Limits) -> str:
    """Say of an error why it is left, and what can be done."""
    test = f" in {failure.test}" if failure.test else ""
    place = f" at line {failure.stack[-1][1]} of {Path(failure.stack[-1][0]).name}" if failure.stack else ""
    what = f"{failure.last_line}{place}{test}"
    if not failure.is_about_devices:
        return f"this is no device error: {what}"
    id_ = failure.diagnosis["message"]["id"]
    fixes = fixes_of(failure, state.files)
    tried = {fix.key: reason for fix, reason in state.taken_back}
    if state.runs >= limits.rounds and fixes:
        return f"{what}. These were {counted(state.runs, 'run')}: --rounds allows more."
    for fix in fixes:
        if fix.key in tried:
            return f"{what}. A change of {fix.place} was tried and taken back: {tried[fix.key]}."
        if not is_within(folder, fix):
            return f"{what}. The line to change is {fix.place}, outside of {str(folder)!a}."
    advice = [f" {culprit['sentence']} {culprit['fix']}" for culprit in failure.diagnosis["culprits"][:1]]
    return f"{what}. No line to change is certain.{''.join(advice)} `samedevice explain {id_}` says more."


def _written_since(began: float, folder: Path) -> list[str]:
    """Return the names of files in a folder that were written since; hidden ones and Python's own are passed over."""
    found = []
    looked_at = 0
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "__pycache__"]
        folders[:] = [name for name in folders if not is_library(str(Path(parent, name, "")) + os.sep)]
        for name in files:
            looked_at += 1
            with contextlib.suppress(OSError):
                if not name.startswith(".") and Path(parent, name).stat().st_mtime >= began:
                    found.append(Path(parent, name).relative_to(folder).as_posix())
        if looked_at > 20_000:  # a folder of data: what is known is enough for a warning
            break
    return found
