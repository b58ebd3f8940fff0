"""A diagnosis as workflow commands of GitHub Actions: a pull request then shows each culprit on its line.

Candidates that were read from a text are alternatives, so they are one annotation, on the line that failed.

The form of the commands, and what has to be escaped, is GitHub's:
https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts
"""

from pathlib import Path
from typing import TYPE_CHECKING

from samedevice.doctor.diagnosis_json import line_of
from samedevice.doctor.outline import changed_lines, choice, command, how_likely, named
from samedevice.doctor.report import TELLS

if TYPE_CHECKING:
    from samedevice.doctor.diagnosis import Diagnosis

_SHOWN = 3  # culprits, as in the report


def as_annotations(diagnosis: "Diagnosis", folder: Path | None = None) -> str:
    """Write an `::error` command for each culprit, or one for the message where none is known or several may be it.

    Args:
        diagnosis: what `explain` returned; no device error gives "".
        folder: the checkout: files below it are named from there. None for the working directory.

    Example:
        >>> from samedevice import explain
        >>> command = as_annotations(explain("RuntimeError: indices should be either on cpu or on the same device"))
        >>> command.startswith("::error title=SD030%3A ")
        True
    """
    if diagnosis.message is None:
        return ""
    folder = folder or Path.cwd()
    more = f"More: {command(diagnosis.message.id)}"
    place = (diagnosis.place.file, diagnosis.place.line) if diagnosis.place else ("", 0)
    told = [
        (line_of(culprit, diagnosis), [culprit.sentence or diagnosis.says, *changed_lines(culprit), more])
        for culprit in diagnosis.culprits[:_SHOWN]
    ]
    if diagnosis.candidates:
        told = [(place, [diagnosis.says, *_alternatives(diagnosis), more])]
    elif not told:
        likely = [f"{how_likely(diagnosis)}: {cause.title}." for cause in diagnosis.causes[:1]]
        told = [(place, [diagnosis.says, *likely, more])]
    title = f"{diagnosis.message.id}: {diagnosis.message.title}"
    return "".join(f"{_command(*place, title, lines, folder)}\n" for place, lines in told)


def _alternatives(diagnosis: "Diagnosis") -> list[str]:
    lines = [f"{choice(diagnosis)} {TELLS}", diagnosis.tell] if diagnosis.tell else [choice(diagnosis)]
    for culprit in diagnosis.candidates:
        lines += [f"If it is {named(culprit.expression)}:", *changed_lines(culprit)]
    return lines


def _command(file: str, line: int, title: str, lines: list[str], folder: Path) -> str:
    properties = {"file": _from(folder, file), "line": str(line or ""), "title": title}
    given = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value)
    return f"::error {given}::" + _data("\n".join(lines))


def _from(folder: Path, file: str) -> str:
    """Name a file from the checkout, as GitHub wants it; a cell, or a file elsewhere, keeps its name."""
    path = Path(file)
    return path.relative_to(folder).as_posix() if file and path.is_relative_to(folder) else file


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
