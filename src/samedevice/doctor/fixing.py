"""What `samedevice fix` does between two runs: it takes the certain edits, and takes back those that did not help.

A run is asked for and its device errors are read. The edits of the first culprit of each error are made in the files as
they are kept here, and the next run has these files. A fix is taken back if its error is still there, or if the program
now fails earlier, or on a line of the fix. All ends when a run has no device error, or when nothing certain is left.

Nothing here runs a program or writes a file: doors/fix.py does.
"""

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from samedevice.doctor.edited_files import EditedFile, Line
from samedevice.doctor.edits import Edit
from samedevice.introspect.libraries import is_library

Files = Mapping[Path, EditedFile]
_NUMBERED = re.compile(r"\b[a-z]+:[1-9]\d*")  # a device, such as cuda:1


@dataclass(frozen=True)
class Failure:
    """One error of a run.

    Attributes:
        test: the test that failed; "" for a program.
        type, message: what the last line of its traceback says.
        stack: the file and the line of each frame in the program's folder, the outermost first.
        diagnosis: what `explain` said, in the form of diagnosis.schema.json.
    """

    test: str
    type: str
    message: str
    stack: tuple[tuple[str, int], ...]
    diagnosis: Mapping[str, Any]

    @property
    def is_about_devices(self) -> bool:
        return self.diagnosis["message"] is not None

    @property
    def last_line(self) -> str:
        """What Python says last, on one line."""
        return f"{self.type}: {self.message}".rstrip(": ").partition("\n")[0]


@dataclass(frozen=True)
class Run:
    """What one run of the program came to.

    Attributes:
        failures: its errors, of which a test suite can have many.
        exit_code: the exit code; None where a limit of time stopped it.
        seconds: how long it took.
        passed: the tests that passed.
        output: what it printed on standard output.
        used_a_gpu: whether its process used one.
    """

    failures: tuple[Failure, ...]
    exit_code: int | None
    seconds: float = 0.0
    passed: frozenset[str] = frozenset()
    output: str = ""
    used_a_gpu: bool = True


@dataclass(frozen=True)
class Fix:
    """The edits that fix one culprit.

    Attributes:
        culprit: its data, in the form of diagnosis.schema.json.
        message_id: the id of PyTorch's message.
        edits: the edits, of the lines as the run had them.
        key: the same edits by the lines on the disk, which stay as they are while lines are added above them.
        errors: the errors that it should end.
    """

    culprit: Mapping[str, Any]
    message_id: str
    edits: tuple[Edit, ...]
    key: object
    errors: frozenset[object]

    def __str__(self) -> str:
        return f"{self.message_id}: {' '.join(self.culprit['expression'].split())} was on {self.culprit['device']}"

    @property
    def place(self) -> str:
        """Say which line it changes."""
        return f"line {self.edits[0].line} of {Path(self.edits[0].file).name}"


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
    while True:
        files = _with(trying, state.files)
        now = run(files)
        if failed := _failed(trying, state, files, now):
            state = replace(state, runs=state.runs + 1, taken_back=(*state.taken_back, *failed))
        else:
            state = replace(state, files=files, fixes=(*state.fixes, *trying), run=now, runs=state.runs + 1)
        trying = _certain(state, folder) if state.runs < rounds else ()
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


def fixes_of(failure: Failure, files: Files) -> list[Fix]:
    """Return the fixes of an error's culprits, the most suspect first; none for a culprit that has no edit.

    Args:
        failure: the error.
        files: the files that the run had in the place of those on the disk.
    """
    fixes = []
    for culprit in failure.diagnosis["culprits"] if failure.is_about_devices else ():
        edits = tuple(Edit(**edit) for edit in culprit["edits"])
        # Without the lines that would only fail next: one of them may be wrong.
        least = tuple(edit for edit in edits if edit.text == culprit["fix"])
        errors = frozenset([_error(failure, files, culprit["expression"])])
        for those in dict.fromkeys(each for each in (edits, least) if each):
            key = tuple((edit.file, _origin(edit.file, edit.line, files), edit.action, edit.text) for edit in those)
            fixes.append(Fix(culprit, failure.diagnosis["message"]["id"], those, key, errors))
    return fixes


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


def _failed(trying: Sequence[Fix], state: State, files: Files, now: Run) -> list[tuple[Fix, str]]:
    """Return the fixes that did not help or did harm, each with the reason."""
    if not trying or state.run is None:
        return []
    if now.exit_code is None and now.seconds < 1.2 * state.run.seconds:
        return [(fix, "the time was over before it could be tried") for fix in trying]
    still = {_error(failure, files, name) for failure in now.failures for name in _expressions(failure)}
    reasons = {id(fix): "it did not help" for fix in trying if fix.errors <= still}
    before = {failure.test: failure for failure in state.run.failures}
    for failure in now.failures:
        if failure.test in state.run.passed:
            blamed = trying
        else:
            blamed = _blamed(failure, before.get(failure.test), trying, state.files, files)
        for fix in blamed:
            reasons.setdefault(id(fix), f"it made another error ({failure.last_line})")
    return [(fix, reasons[id(fix)]) for fix in trying if id(fix) in reasons]


def _blamed(failure: Failure, before: Failure | None, trying: Sequence[Fix], old: Files, new: Files) -> Sequence[Fix]:
    """Return the fixes that may have made an error: it is on a line of theirs, or the program came less far."""
    if before is not None:
        if _came_less_far(failure, before, old, new):
            return trying
        # On a line that was edited because it failed, the next error about devices is one more to fix.
        if failure.is_about_devices and _origins(failure, new)[-1:] == _origins(before, old)[-1:]:
            return ()
    line = _line(*failure.stack[-1], new) if failure.stack else None
    if line is None or not line.fixes:
        return ()
    # On a line of an earlier fix, which had worked, the newest ones may have brought it.
    return [fix for fix in trying if line.fixes == str(fix)] or (() if failure.is_about_devices else trying)


def _came_less_far(failure: Failure, before: Failure, old: Files, new: Files) -> bool:
    """Tell whether a program failed on a line above the one that it had passed, in the first frame that differs.

    In a loop, that line may be one of the next round. An error about devices then counts as a later one.
    """
    is_repeated = False
    for now, then in zip(_origins(failure, new), _origins(before, old), strict=False):
        file, line, old_line = now[0], now[1], then[1]
        if now == then:
            is_repeated = is_repeated or _are_in_a_loop(file, line, line)
            continue
        if file != then[0] or not isinstance(line, int) or not isinstance(old_line, int) or line > old_line:
            return False
        return not (failure.is_about_devices and (is_repeated or _are_in_a_loop(file, line, old_line)))
    return False


def _are_in_a_loop(file: str, line: int | str, other: int | str) -> bool:
    """Tell whether two lines of a file on the disk are in one loop."""
    if isinstance(line, str) or isinstance(other, str):
        return False
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return False
    loops = (node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While | ast.AsyncFor))
    return any(node.lineno <= min(line, other) and max(line, other) <= (node.end_lineno or 0) for node in loops)


def _error(failure: Failure, files: Files, expression: str) -> object:
    """Return what tells an error from others, whatever lines were added above its own."""
    message = failure.diagnosis["message"]
    return failure.test, message and message["id"], _origins(failure, files), expression


def _expressions(failure: Failure) -> list[str]:
    return [culprit["expression"] for culprit in failure.diagnosis["culprits"]]


def _origins(failure: Failure, files: Files) -> tuple[tuple[str, int | str], ...]:
    return tuple((file, _origin(file, line, files)) for file, line in failure.stack)


def _origin(file: str, number: int, files: Files) -> int | str:
    """Return what a line is on the disk: its number; or its text, if it stands in no file yet."""
    line = _line(file, number, files)
    if line is None:
        return number
    return line.text.strip() if line.origin is None else line.origin


def _line(file: str, number: int, files: Files) -> Line | None:
    edited = files.get(Path(file).resolve())
    return edited.line(number) if edited else None
