"""Judge what the text doctor says of a paste, from what the drawing knows.

It holds: the culprit is among the named; a single name is the culprit; nothing is named that cannot be it; what is
proposed stands in the line and compiles, and with the change of the culprit the program runs.
"""

import ast
import contextlib
import io
import re
from dataclasses import dataclass

import samedevice
from drawn_lines.changes import NO_HELP, wrong_with
from drawn_lines.named import Named, looked_at, namespace
from drawn_lines.pastes import Paste
from drawn_lines.program import Program
from drawn_lines.running import Failure
from samedevice.doctor.diagnosis import Culprit, Diagnosis

_MOST = 4  # names of an answer
_WRONG_NAME, _NOT_AMONG = "one named, another is the culprit", "the culprit is not among the named"
_IMPOSSIBLE = "something named that cannot be it"


@dataclass(frozen=True)
class Judgement:
    """What was named for one paste, and whether it holds.

    Attributes:
        named: the expressions that were named.
        kind: the property that does not hold, in a few words; "" if all hold.
        reason: why it does not hold.
        lacks_change: whether the culprit was named, and no change was proposed for it.
        misses_culprit: whether something was named, and the culprit is not among it. Of a line that was cut, this
            is counted too, though nobody could have told.
    """

    named: tuple[str, ...]
    kind: str = ""
    reason: str = ""
    lacks_change: bool = False
    misses_culprit: bool = False


def judged(program: Program, failed: Failure, paste: Paste) -> Judgement:
    """Ask the doctor about a paste, and judge the answer."""
    try:
        diagnosis = samedevice.explain(paste.text)
    except Exception as error:
        return Judgement((), "explain raised", repr(error))
    names = [looked_at(program, failed, culprit.expression) for culprit in diagnosis.culprits]
    pairs = list(zip(names, diagnosis.culprits, strict=True))
    wrong = (
        _wrong_with_names(program, paste, names)
        or next(filter(None, (_wrong_with_culprit(program, *pair) for pair in pairs)), None)
        or _wrong_with_tell(program, failed, diagnosis, names)
        or ("", "")
    )
    if paste.is_cut and _cannot_be_told(program, diagnosis, *wrong):
        wrong = ("", "")
    lacks_change = any(name.is_culprit and not culprit.edits for name, culprit in pairs)
    return Judgement(
        tuple(name.expression for name in names), *wrong, lacks_change, names != [] and not _have_culprit(names)
    )


def why_silent(program: Program, paste: Paste) -> str:
    """Return why nobody could name two to four tensors of a line: "cut", "more", "text", or "" if one could."""
    if paste.is_cut or "...<" in paste.text:  # Python 3.13 leaves out lines of a long statement
        return "cut"
    if program.candidates > _MOST:
        return "more"
    # The doctor does not read what stands in a formatted text.
    return "text" if any(re.search(r'\bf"', line) for line in program.statement) else ""


def _cannot_be_told(program: Program, diagnosis: Diagnosis, kind: str, reason: str) -> bool:
    """Tell whether a failure is only due to where a line was cut.

    If what is left is Python, nobody can tell that the line goes on, so the culprit may be missing. If it ends within
    a name, as in `x + w` of `x + weights`, nobody can tell that there is no `w`.
    """
    if diagnosis.place is None:
        return False
    if kind in (_WRONG_NAME, _NOT_AMONG):
        return _is_python(diagnosis.place.code)
    shown = diagnosis.place.code.strip().rstrip(".\u2026")
    last, whole = re.search(r"[\w.]*\w$", shown), program.statement[0].strip()
    is_within = whole.startswith(shown) and re.match(r"[\w.\[(]", whole[len(shown) :])
    if not last or not is_within or kind not in (_IMPOSSIBLE, NO_HELP):
        return False
    return re.search(rf"(?<![\w.]){re.escape(last[0])}(?!\w)", reason) is not None


def _is_python(code: str) -> bool:
    try:
        ast.parse(code)
    except SyntaxError:
        return False
    return True


def _wrong_with_names(program: Program, paste: Paste, names: list[Named]) -> tuple[str, str] | None:
    told = ", ".join(name.expression for name in names)
    if not names:
        whole = f"the line is whole, and has {program.candidates} candidates"
        return None if why_silent(program, paste) else ("none named", whole)
    if len(names) > _MOST or len({name.expression for name in names}) < len(names):
        return "too many named", told
    if not _have_culprit(names):
        return _WRONG_NAME if len(names) == 1 else _NOT_AMONG, told
    for name in names:
        if name.impossible:
            return _IMPOSSIBLE, f"{name.expression} {name.impossible}"
    return None


def _have_culprit(names: list[Named]) -> bool:
    return any(name.is_culprit or name.is_partner for name in names)


def _wrong_with_culprit(program: Program, name: Named, culprit: Culprit) -> tuple[str, str] | None:
    if name.is_culprit and not program.is_between_gpus and culprit.device not in ("", "cpu"):
        return "the device is wrong", f"{name.expression} is said to be on {culprit.device}"
    wrong = wrong_with(program, culprit.edits, name.is_culprit)
    return wrong and (wrong[0], f"{name.expression}: {wrong[1]}")


def _wrong_with_tell(
    program: Program, failed: Failure, diagnosis: Diagnosis, names: list[Named]
) -> tuple[str, str] | None:
    """Run the line that prints the devices of all that is named, if all of it has one."""
    tell = getattr(diagnosis, "tell", "")
    if not tell or not all(name.has_device for name in names):
        return None
    try:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(tell, namespace(program, failed))
    except Exception as error:
        return "what tells them apart fails", f"{tell}: {error!r}"
    # The devices of a module are printed as a set.
    wrong_device = r"cuda:1\b|index=1\)" if program.is_between_gpus else r"\bcpu\b"
    return None if re.search(wrong_device, printed.getvalue()) else ("what tells them apart fails", tell)
