"""Whether a fix of `samedevice fix` has helped: its error is gone, and the program fails no earlier than before."""

import ast
from collections.abc import Sequence
from pathlib import Path

from samedevice.doctor.fix_outcomes import Failure, Files, Fix, Run, error_of, line_of, origins


def without_help(trying: Sequence[Fix], before: Run, old: Files, now: Run, new: Files) -> list[tuple[Fix, str]]:
    """Return the fixes that did not help or did harm, each with the reason.

    Args:
        trying: the fixes that the newer run had.
        before, old: the run without them, and its files.
        now, new: the run with them, and its files.
    """
    if now.exit_code is None and now.seconds < 1.2 * before.seconds:
        return [(fix, "the time was over before it could be tried") for fix in trying]
    still = {error_of(failure, new, name) for failure in now.failures for name in failure.expressions}
    reasons = {id(fix): "it did not help" for fix in trying if fix.errors <= still}
    earlier = {failure.test: failure for failure in before.failures}
    for failure in now.failures:
        if failure.test in before.passed:
            blamed = trying
        else:
            blamed = _blamed(failure, earlier.get(failure.test), trying, old, new)
        for fix in blamed:
            reasons.setdefault(id(fix), f"it made another error ({failure.last_line})")
    return [(fix, reasons[id(fix)]) for fix in trying if id(fix) in reasons]


def _blamed(failure: Failure, before: Failure | None, trying: Sequence[Fix], old: Files, new: Files) -> Sequence[Fix]:
    """Return the fixes that may have made an error: it is on a line of theirs, or the program came less far."""
    if before is not None:
        if _came_less_far(failure, before, old, new):
            return trying
        # On a line that was edited because it failed, the next error about devices is one more to fix.
        if failure.is_about_devices and origins(failure, new)[-1:] == origins(before, old)[-1:]:
            return ()
    line = line_of(*failure.stack[-1], new) if failure.stack else None
    if line is None or not line.fixes:
        return ()
    # On a line of an earlier fix, which had worked, the newest ones may have brought it.
    return [fix for fix in trying if line.fixes == str(fix)] or (() if failure.is_about_devices else trying)


def _came_less_far(failure: Failure, before: Failure, old: Files, new: Files) -> bool:
    """Tell whether a program failed on a line above the one that it had passed, in the first frame that differs.

    In a loop, that line may be one of the next round. An error about devices then counts as a later one.
    """
    is_repeated = False
    for now, then in zip(origins(failure, new), origins(before, old), strict=False):
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
