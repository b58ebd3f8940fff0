"""Apply the change that the doctor proposes to the program, and see whether it compiles, and whether it helps."""

from collections.abc import Sequence

from drawn_lines.program import Program
from drawn_lines.running import FILE, failure
from samedevice.doctor.edits import Edit

NO_HELP = "the change does not help"
WrongChange = tuple[str, str]  # what is wrong with a change, in a few words and in many


def wrong_with(program: Program, edits: Sequence[Edit], is_of_culprit: bool) -> WrongChange | None:
    """Return what is wrong with the change of one expression; None if nothing is.

    Args:
        is_of_culprit: whether the program has to run with the change; that of another expression has only to compile.
    """
    if not edits:
        return None
    text = program.text
    told = "; ".join(f"line {edit.line} {edit.action}: {edit.text}" for edit in edits)
    for edit in sorted(edits, key=lambda edit: (-edit.line, edit.action == "before")):
        lines = text.split("\n")
        if not 0 < edit.line <= len(lines):
            return "a change of no line", told
        there = lines[edit.line - 1]
        if edit.action == "replace" and (not edit.old or edit.old not in there):
            return "a change of what does not stand there", f"{edit.old!r} in {there.strip()!r}"
        lines[edit.line - 1] = _edited(there, edit)
        text = "\n".join(lines)
    try:
        compile(text, FILE, "exec")
    except (SyntaxError, ValueError) as error:
        return "a change does not compile", f"{told}: {error}"
    after = failure(text) if is_of_culprit else None
    # What PyTorch refuses on any device is no matter of the doctor's.
    if after is not None and "more than one element of the written-to tensor" not in str(after.error):
        return NO_HELP, f"{told}: {after.error!r}"
    return None


def _edited(line: str, edit: Edit) -> str:
    """Return a line with a change; where the paste had only its beginning, the change may be of that."""
    indent = line[: len(line) - len(line.lstrip())]
    new = edit.text.replace("\n", f"\n{indent}")
    return f"{indent}{new}\n{line}" if edit.action == "before" else line.replace(edit.old, new, 1)
