"""What `samedevice fix` knows of a run: its errors, the fixes that they offer, and what tells one from another.

Lines are compared by the file on the disk, because the edits of a run add lines above others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samedevice.doctor.edited_files import EditedFile, Line
from samedevice.doctor.edits import Edit

Files = Mapping[Path, EditedFile]


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
    def expressions(self) -> list[str]:
        """The culprits, as the program has them."""
        return [culprit["expression"] for culprit in self.diagnosis["culprits"]]

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
        errors = frozenset([error_of(failure, files, culprit["expression"])])
        for those in dict.fromkeys(each for each in (edits, least) if each):
            key = tuple((edit.file, origin(edit.file, edit.line, files), edit.action, edit.text) for edit in those)
            fixes.append(Fix(culprit, failure.diagnosis["message"]["id"], those, key, errors))
    return fixes


def error_of(failure: Failure, files: Files, expression: str) -> object:
    """Return what tells an error from others, whatever lines were added above its own."""
    message = failure.diagnosis["message"]
    return failure.test, message and message["id"], origins(failure, files), expression


def origins(failure: Failure, files: Files) -> tuple[tuple[str, int | str], ...]:
    return tuple((file, origin(file, line, files)) for file, line in failure.stack)


def origin(file: str, number: int, files: Files) -> int | str:
    """Return what a line is on the disk: its number; or its text, if it stands in no file yet."""
    line = line_of(file, number, files)
    if line is None:
        return number
    return line.text.strip() if line.origin is None else line.origin


def line_of(file: str, number: int, files: Files) -> Line | None:
    edited = files.get(Path(file).resolve())
    return edited.line(number) if edited else None
