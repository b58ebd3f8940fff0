"""What `samedevice fix` does between two runs: it takes the certain edits, and takes back those that did not help.

A run is asked for and its device errors are read. The edits of the first culprit of each error are made in the files as
they are kept here, and the next run has these files. A fix is taken back if its error is still there, or if the program
now fails earlier, or on a line of the fix. All ends when a run has no device error, or when nothing certain is left.

Nothing here runs a program or writes a file: doors/fix.py does.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from samedevice.doctor.edited_files import EditedFile
from samedevice.doctor.edits import Edit
from samedevice.doctor.fix_helped import without_help
from samedevice.doctor.fix_outcomes import Files, Fix, Run, fixes_of
from samedevice.introspect.libraries import is_library

_NUMBERED = re.compile(r"\b[a-z]+:[1-9]\d*")  # a device, such as cuda:1


@dataclass(frozen=True)
class State:
    """What is reached.

    Attributes:
        files: the files with the fixes.
        fixes: the fixes that helped, in the order in which they were made.
        run: the last run that had these files; None before the first.
        runs: how many runs there were.
        taken_back: the fixes that were taken back, each with the reason.
    """

    files: Files
    fixes: tuple[Fix, ...] = ()
    run: Run | None = None
    runs: int = 0
    taken_back: tuple[tuple[Fix, str], ...] = ()

    @property
    def has_succeeded(self) -> bool:
        """Whether the program ran to its end."""
        return self.run is not None and self.run.exit_code == 0 and not self.run.failures


def fixing(
    run: Callable[[Files], Run], folder: Path, rounds: int, tell: Callable[[State, Sequence[Fix]], None]
) -> State:
    """Run a program, fix it and run it again, until it ends or nothing certain is left.

    Args:
        run: runs the program with these files in the place of those on the disk.
        folder: the program's folder, resolved: only Python files in it are edited.
        rounds: how many runs there may be at most, 1 or more.
        tell: is told, after each run, what is reached, and which fixes the next run tries.

    Returns:
        What is reached. Its fixes are those after which the program came further.
    """
    state = State({})
    trying: Sequence[Fix] = ()
    at_once: int | None = None
    while True:
        files = _with(trying, state.files)
        now = run(files)
        failed = without_help(trying, state.run, state.files, now, files) if state.run else []
        if 1 < len(trying) == len(failed):
            # Which of them it was is not known: from now on they are tried one by one.
            at_once = 1
            state = replace(state, runs=state.runs + 1)
        elif failed:
            state = replace(state, runs=state.runs + 1, taken_back=(*state.taken_back, *failed))
        else:
            state = replace(state, files=files, fixes=(*state.fixes, *trying), run=now, runs=state.runs + 1)
        trying = _certain(state, folder)[:at_once] if state.runs < rounds else ()
        tell(state, trying)
        if not trying:
            return state


def _with(fixes: Iterable[Fix], files: Files) -> dict[Path, EditedFile]:
    """Return the files with fixes in them.

    Raises:
        OSError, SyntaxError, ValueError: a file cannot be read or edited so.
    """
    edits: dict[Path, dict[Edit, str]] = {}
    for fix in fixes:
        for edit in fix.edits:
            edits.setdefault(Path(edit.file).resolve(), {}).setdefault(edit, str(fix))
    edited = {path: (files.get(path) or EditedFile.read(path)).with_edits(those) for path, those in edits.items()}
    return {**files, **edited}


def _certain(state: State, folder: Path) -> list[Fix]:
    """Return a fix for each error of the last run that has a certain one which was not tried yet."""
    known = {fix.key for fix in (*state.fixes, *(fix for fix, _ in state.taken_back))}
    found: dict[object, Fix] = {}
    for failure in state.run.failures if state.run else ():
        for fix in fixes_of(failure, state.files):
            if fix.key in found:
                found[fix.key] = replace(fix, errors=fix.errors | found[fix.key].errors)
                break
            if fix.key not in known and is_certain(fix, folder) and _is_possible([*found.values(), fix], state.files):
                found[fix.key] = fix
                break
    return list(found.values())


def is_certain(fix: Fix, folder: Path) -> bool:
    """Tell whether a fix may be tried: its files are the program's own, and it is right in each round and each run.

    A number such as that of `"cuda:1"` is right in one run. The next one may have the tensor elsewhere. The first GPU
    is what a program with one GPU has.
    """
    if not is_within(folder, fix):
        return False
    # A generator that is created in a loop draws the same numbers each time.
    if any(edit.action == "before" and "Generator(" in edit.text for edit in fix.edits):
        return False
    gpus = ((edit.file, gpu) for edit in fix.edits for gpu in _NUMBERED.findall(edit.text))
    return all(gpu in _text(Path(file)) for file, gpu in gpus)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def is_within(folder: Path, fix: Fix) -> bool:
    """Tell whether all files of a fix are the program's own."""
    paths = [Path(edit.file).resolve() for edit in fix.edits]
    return all(path.is_relative_to(folder) and not is_library(str(path)) for path in paths)


def _is_possible(fixes: Iterable[Fix], files: Files) -> bool:
    try:
        _with(fixes, files)
    except (OSError, SyntaxError, ValueError):
        return False
    return True
