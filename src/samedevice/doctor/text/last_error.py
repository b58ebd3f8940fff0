"""The error that comes last in a log, below the one that is explained: the job may have died of something else.

docs/assets/doctor/last-error.js does the same in the browser.
"""

import re
from collections.abc import Collection, Sequence

_TRACEBACK = re.compile(r"^(?P<margin>.{0,200}?)Traceback \(most recent call last\)")
_OF_IPYTHON = re.compile(r"^[A-Za-z_]\w{0,80} {2,}$", re.ASCII)  # "KeyError      Traceback (most recent call last)"
_NAME = re.compile(r"^[A-Za-z_][\w.]{0,200}(?:: |:?$)", re.ASCII)
_DIRECT = "The above exception was the direct cause"
# A launcher's own error says that a process failed, and not of what.
# A program's own exit says nothing of it either.
_OF_A_LAUNCHER = re.compile(
    r"^[\w.]{0,200}(?:ChildFailedError|CalledProcessError|ProcessRaisedException|SystemExit)\b", re.ASCII
)
_DEATH = re.compile(
    r"^(?:.{0,200}?: line [0-9]{1,7}: {1,9}[0-9]{1,9} )?"
    r"(?P<shell>Killed|Aborted|Bus error|Illegal instruction|Segmentation fault)(?: {2}| \(core dumped\)|$)"
    r"|(?P<said>Fatal Python error: .{1,200}|Signal (?:4|6|7|8|9|11) \(SIG[A-Z]{2,4}\) received by PID [0-9]{1,9}"
    r"|terminate called after throwing .{1,200}|Detected [0-9]{1,6} oom[_-]kill event.{0,80}"
    r"|CANCELLED AT .{1,80} DUE TO .{1,40}|Watchdog caught collective operation timeout)",
    re.ASCII,
)
# Tests fail one by one, each by itself.
_TESTS = re.compile(
    r"^={3,} (?:FAILURES|ERRORS|short test summary info|[0-9]{1,9} (?:passed|failed)\b.*) ={3,}$"
    r"|^Ran [0-9]{1,9} tests? in ",
    re.ASCII,
)
_SHOWN = 120  # characters


def last_error(lines: Sequence[str], start: int, ignored: Collection[int]) -> str:
    """Return the line of the error that comes last, or "" without such an error.

    Args:
        lines: those of a cleaned log.
        start: the number of the first line that follows the error which is explained.
        ignored: the numbers of lines that are not looked at.

    Of a report of tests only the death of the process is told.
    """
    found = ""
    margin = None  # what stands before each line of a traceback; None outside of one
    is_of_tests = any(_TESTS.match(line) for line in lines[start:])
    for number, line in enumerate(lines[start:], start):
        if number in ignored:
            continue
        if header := _TRACEBACK.match(line):
            is_same = number > start and _DIRECT in lines[number - 1]  # the same failure in other words
            margin = None if is_same or is_of_tests else header["margin"]
        elif margin is not None and (text := _below(margin, line)):
            found, margin = found if _OF_A_LAUNCHER.match(text) else text, None
        elif death := _DEATH.search(line):
            found = death["shell"] or death["said"]
    return found[:_SHOWN].strip()


def _below(margin: str, line: str) -> str:
    """Return an error's own line, which stands below its traceback and behind the same margin; "" for any other."""
    if _OF_IPYTHON.match(margin):
        return line if line.startswith(f"{margin.strip()}:") else ""
    text = line[len(margin) :]
    return text if _digits(line[: len(margin)]) == _digits(margin) and _NAME.match(text) else ""


def _digits(text: str) -> str:
    return re.sub("[0-9]", "0", text)
