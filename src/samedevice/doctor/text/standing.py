"""How a message stands in a log: as an error, in passing, or only as words.

A log quotes messages that are no errors of its own: in the pattern that a test expects, in the name of a test that
passed. It mentions others in passing: in a warning, in a line of a logger, in what pytest captured while a test ran, in
what Python ignored in a `__del__`. An error that nobody caught stands behind its name alone.

docs/assets/doctor/standing.js does the same in the browser.
"""

import re
from collections.abc import Sequence

_HEAD = 200  # characters left of the message that are looked at
_QUOTED = re.compile(
    r"""(?:\bmatch ?= ?\(?|assertRaisesRegex\([\w.]{1,80}, ?|[Rr]egex: |[Pp]attern:? )"""
    r"""[bfruBFRU]{0,2}["'][^"']{0,200}$""",
    re.ASCII,
)
# Of a test: its name, the line above its failure, and the reason why it was skipped or may fail.
_NAMED = re.compile(
    r"^(?:\[gw[0-9]{1,4}\] \[ ?[0-9]{1,3}%\] )?(?:PASSED|SKIPPED|XFAIL|XPASS)\b|^_{3,} |\.\.\. skipped ['\"]"
    r"|\.py::(?:(?! - ).){0,200}$",
    re.ASCII,
)
# A logger may write each line of a traceback, down to its last one: "ERROR - RuntimeError: ...".
_LOGGED = re.compile(
    r"\b(?:DEBUG|INFO|WARN|WARNING)\b|\b(?:ERROR|CRITICAL)\b(?![^A-Za-z]{0,9}[\w.]{1,80}(?:Error|Exception): )"
    r"|[Ww]arnings?\b",
    re.ASCII,
)
_SOURCE = re.compile(r"""\braise [\w.]{1,80}\([^"']{0,20}["'][^"']{0,200}$""", re.ASCII)
_CAPTURED = re.compile(r"^-{3,} Captured \w{1,20} \w{1,20} -{3,}$", re.ASCII)
_IGNORED = re.compile("Exception ignored (?:in|while|on)")
_ENDS = re.compile(r"^[A-Za-z_][\w.]{0,200}(?::|$)", re.ASCII)  # an error's own line below its traceback
# pytest's lines above a test and above a part of its report: "____ test_step ____", "==== warnings summary ===="
SECTION = re.compile(r"^(?:_{3,} .{1,400} _{3,}|={3,} .{1,400} ={3,})$")


def is_quoted(head: str) -> bool:
    """Tell whether a message is only quoted, by what stands before it in its line."""
    head = head[-_HEAD:]
    return bool(_QUOTED.search(head) or _NAMED.search(head))


def is_source(head: str) -> bool:
    """Tell whether a line of a program holds the message, which it raises, by what stands before it in its line."""
    return _SOURCE.search(head[-_HEAD:]) is not None


def is_in_passing(head: str) -> bool:
    """Tell whether a warning or a line of a logger or of a program holds the message, by what stands before it."""
    return _LOGGED.search(head[-_HEAD:]) is not None or is_source(head)


def passed_over(lines: Sequence[str]) -> set[int]:
    """Return the numbers of the lines that pytest captured, and of those of errors that Python ignored."""
    found: set[int] = set()
    is_captured = False
    margin: int | None = None  # characters before each line of an ignored error; None outside of one
    for number, line in enumerate(lines):
        if _CAPTURED.match(line):
            is_captured = True
        elif is_captured and SECTION.match(line):
            is_captured = False
        if is_captured or margin is not None:
            found.add(number)
        if ignored := _IGNORED.search(line):
            margin = ignored.start()
        elif margin is not None and _ENDS.match(line[margin:]):
            margin = None
    return found
