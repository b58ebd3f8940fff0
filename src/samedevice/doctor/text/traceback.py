"""The frames of a pasted traceback: Python's own, IPython's, pytest's, `rich`'s.

The forms are those that Python 3.9 to 3.13, IPython 7 to 9, pytest 9 and rich 15 print. A form that is not read costs
the place of the error, never its message. docs/assets/doctor/traceback.js does the same in the browser.
"""

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from samedevice.catalog import load
from samedevice.doctor.text.standing import SECTION
from samedevice.introspect.libraries import is_installed, package
from samedevice.introspect.lines import Line, read_line

_FILE, _LINE = r"(?P<file>[^ ].{0,400}?)", r"(?P<line>[0-9]{1,7})"
_FUNCTION, _SOURCE = r"(?P<function>.{1,400})", r"(?P<file>[^ ].{0,400}?\.pyx?)"
_FORMS = [
    # Python's own, behind whatever a log, a launcher or a quotation puts before each line (`margin`)
    rf'^(?P<margin>.{{0,200}}?)File "(?P<file>[^"]{{1,400}})", line {_LINE}(?:,? in {_FUNCTION})?$',
    # IPython 8, 9: "File ~/train.py:16, in main(n)", "Cell In[2], line 4, in step(x)"; 8.0: "Input In [2], in step(x)"
    rf"^ {{0,40}}File {_FILE}:{_LINE}(?:, in {_FUNCTION})?$",
    rf"^ {{0,40}}(?P<file>(?:Cell|Input) In ?\[[0-9]{{1,7}}\])(?:, line {_LINE})?(?:, in {_FUNCTION})?$",
    # VS Code: "/home/me/a.ipynb Cell 3 in <cell line: 1>()", "/home/me/a.ipynb Cell 3 line 1"
    rf"^ {{0,40}}(?P<file>[^ ].{{0,400}}?\.ipynb Cell [0-9]{{1,5}})(?: line {_LINE})?(?: in {_FUNCTION})?$",
    # IPython 7 and Colab: "~/train.py in main(n)", "<ipython-input-3-6344c9e4f3d4> in <cell line: 0>()"
    r"^(?P<file>[^ ].{0,400}?(?:\.pyx?|>)) in (?P<function><module>|[\w.<>: ]{1,200}\(.{0,400})$",
    # pytest: "train.py:16: in main"; in its long form after the code, as "train.py:16:" or "train.py:6: RuntimeError"
    rf"^(?P<margin>){_SOURCE}:{_LINE}: in {_FUNCTION}$",
    rf"^{_SOURCE}:{_LINE}:(?P<shown>)(?: [A-Z]\w{{0,80}})?$",
    # rich: "/home/me/train.py:16 in main"; "in <module>:5" where there is no file
    rf"^ {{0,40}}(?P<file>[^ ].{{0,400}}?(?:\.pyx?|>)):{_LINE} in(?: {_FUNCTION})?$",
    rf"^ {{1,40}}(?P<file>)in (?P<function>[\w.<>: ]{{1,200}}?):{_LINE}$",
]
_COMPILED = [re.compile(form, re.ASCII) for form in _FORMS]
# Of a log that was cut in the middle of a line: 'le "/home/me/train.py", line 3, in main'
_CUT = rf'^(?P<margin>)(?:[File ]{{0,5}}")?(?P<file>[^"]{{1,400}})", line {_LINE}(?:,? in {_FUNCTION})?$'
_OF_A_FIRST_LINE = [*_COMPILED, re.compile(_CUT, re.ASCII)]
# rich breaks long lines: "/home/me/site-packages/tor", "ch/nn/modules/module.py:1501 in", "_call_impl"
_PATH_BEGINS = re.compile(r'^ {0,40}(?:/|~|[A-Za-z]:[/\\])[^":]{10,400}$')
_PATH_ENDS = re.compile(r"^ {1,40}[^ :]{1,400}:[0-9]{1,7} in(?: .{1,200})?$")
_NAME = re.compile(r"^ {1,40}[\w.<>]{1,200}$", re.ASCII)
# "----> 5     loss = f(x)", rich's "❱ 5     loss = f(x)", and the lines around it, without the arrow
_NUMBERED = re.compile(r"^ {0,40}(?P<arrow>(?:-{1,8}>|\u2771) {0,8})?(?P<line>[0-9]{1,7}) (?P<code>.{1,400})$")
_MARKED = re.compile(r"^>(?P<code> {2,200}[^ ].{0,400})$")  # pytest's failing line
# A paste that lost its line ends: "in step y = f(x) RuntimeError:", behind the frame's file and line
_JOINED = re.compile(
    r"^(?P<function>[\w.]{1,80}) (?P<code>[^ ].{0,400}?)(?: [\w.]{1,80}(?:Error|Exception):?)?$", re.ASCII
)
_BACKSLASH = re.compile(r"\\(?!u(?:061c|200[ef]|202[a-e]|206[6-9]))")  # of a path: `escaped` writes the others
_CARETS = re.compile(r"^[ ~^]{1,400}$")
_ERROR = re.compile(
    r"^(?:[\w.]{0,200}(?:Error|Exception|Warning|Interrupt|Exit)\b|Traceback |During |The above )", re.ASCII
)
BEGINS, _INNER = "Traceback (most recent call last)", "Original Traceback"
_CHAINED = re.compile("During handling of the above|The above exception was")
# faulthandler prints the most recent call first.
_ANOTHER = re.compile(
    r"Traceback \(most recent call last\)|During handling of the above|The above exception was"
    r"|\(most recent call first\)"
)
_OWN_LINE = re.compile(r"^[A-Za-z_][\w.]{0,200}(?:Error|Exception|Interrupt|Exit)(?::|$)", re.ASCII)
_OF_PYTHON = re.compile(
    r"/lib(?:64)?/python[0-9](?:\.[0-9]{1,2})?/|^<string"
    r"|/(?:[Pp]ython[0-9][0-9.-]{0,5}|\w{0,12}conda[0-9]?|mini(?:forge|mamba)[0-9]?)/(?:envs/[^/]{1,80}/)?[Ll]ib/",
    re.ASCII,
)
# What pip writes to start a package: bin/whisper, Scripts/whisper.exe/__main__.py
_OF_A_COMMAND = re.compile(r"(?:^|/)(?:bin|Scripts)/[\w-]{1,80}(?:\.exe(?:/__main__\.py)?|-script\.py)?$", re.ASCII)
# A path that was cut, or lies where no packages are installed, tells PyTorch and some libraries by their folders.
_TORCH = re.compile(
    r"(?:^|/)torch/(?:(?:nn|utils|optim|autograd|cuda|distributed|_[a-z]\w{0,40})(?:/|\.py)"
    r"|(?:functional|serialization|storage|_?tensor)\.py$)",
    re.ASCII,
)
_OF_A_CHECKOUT = ("examples", "tests", "scripts", "benchmarks", "docs", "src")  # the folder above them is one
# Raises what PyTorch would raise in C++, where it has no frames.
_SIMULATION = re.compile(r"(?:^|/)samedevice/(?:simulation|placement|introspect|doctor|doors)/", re.ASCII)


@dataclass(frozen=True)
class Frame:
    """One frame: `file` with forward slashes, `line` (0 where none was shown), `function`, the `code` shown, or ''.

    `code` has several lines where the traceback shows a statement of several. `marked` is the part of it that Python
    3.11 and later underline with `^` and `~`, as (start, end); () where nothing is underlined.
    """

    file: str
    line: int
    function: str
    code: str
    marked: tuple[int, int] | tuple[()] = field(default=(), compare=False)

    @functools.cached_property
    def statement(self) -> Line | None:
        """The code as Python's parser reads it; None where no code is shown, or where it is not Python's."""
        return read_line(self.code) if self.code else None

    @property
    def in_library(self) -> bool:
        """Whether the file belongs to Python or to an installed package."""
        starts_a_package = "sys.exit(" in self.code and _OF_A_COMMAND.search(self.file) is not None
        return starts_a_package or _is_library(self.file)

    @property
    def package(self) -> str:
        """The installed package that the file belongs to, other than PyTorch itself; "" for any other file."""
        return package(self.file) or _known(self.file)


@functools.lru_cache(maxsize=1_000)
def _is_library(path: str) -> bool:
    return is_installed(path) or bool(_OF_PYTHON.search(path) or _TORCH.search(path) or _known(path))


@functools.cache
def _names_of_libraries() -> re.Pattern[str]:
    names = "|".join(library.name for library in load().libraries.values() if library.known)
    return re.compile(rf"^(?:\.{{2,3}}/)?(?P<known>{names})/(?P<below>\w{{1,100}})[\w/]{{0,200}}\.py$", re.ASCII)


@functools.lru_cache(maxsize=1_000)
def _known(path: str) -> str:
    """Return the library that a cut path belongs to by its name alone; "" in a checkout, whose files are the reader's.

    Example:
        >>> _known("transformers/models/llama/modeling_llama.py"), _known("src/transformers/trainer.py")
        ('transformers', '')
    """
    found = _names_of_libraries().search(path)
    return "" if found is None or found["below"] in (found["known"], *_OF_A_CHECKOUT) else found["known"]


@dataclass(frozen=True)
class Traceback:
    """The frames, outermost first, and the lines that belong to no library's frame."""

    frames: list[Frame]
    own_lines: list[str]


def read_traceback(before: Sequence[str], after: Sequence[str] = ()) -> Traceback:
    """Read the frames in the lines of a cleaned paste that stand before a message and after it, in their order.

    Of those before it the frames of its own traceback count, with what it is chained to. Those after it count up to the
    next traceback only, which is another error's. Where there are none, any do that end with no error: then the message
    may be a title.
    """
    other = _end(after)
    start = _start(before)
    near = _read([*before[start:], *after[:other]])
    if near.frames or any(_OWN_LINE.match(line) for line in after[other:]):
        earlier = _read(before[:start])
        return Traceback(near.frames, [*earlier.own_lines, *near.own_lines, *after[other:]])
    far = _read(after)
    return Traceback(far.frames, [*before, *far.own_lines])


def frames_near(before: Sequence[str], after: Sequence[str]) -> list[Frame]:
    """Return the frames of a message's own traceback alone."""
    return _read([*before[_start(before) :], *after[: _end(after)]]).frames


def _end(after: Sequence[str]) -> int:
    """Return the number of the line at which another traceback begins, or another part of a report."""
    return next((at for at, line in enumerate(after) if _ANOTHER.search(line) or SECTION.match(line)), len(after))


def _start(before: Sequence[str]) -> int:
    """Return the number of the line at which the traceback that stands last begins, or the part of a report with it."""
    for number in range(len(before) - 1, -1, -1):
        line = before[number]
        is_inner = _INNER in line or (number and _CHAINED.search(before[number - 1]))
        if SECTION.match(line) or (BEGINS in line and not is_inner):
            return number
    return 0


def _read(lines: Sequence[str]) -> Traceback:
    own_lines: list[str] = []
    found: list[Frame] = []
    code: list[str] = []  # of the last frame; in pytest's long form, of the next
    margin: str | None = None  # what stands before that code; None if its lines are numbered
    number = 0  # of its last line
    path = ""  # the part of a file's path that stood in the line before
    is_library = False  # whether the last frame is a library's
    for at, written in enumerate(lines):
        line = written.rstrip()
        if path and _PATH_ENDS.match(line):
            line = path + line.strip()
        path = ""
        if _ERROR.match(line):
            is_library = False
        if form := next(filter(None, (form.match(line) for form in (_COMPILED if at else _OF_A_FIRST_LINE))), None):
            groups = form.groupdict()
            if "shown" not in groups:
                code = []
            margin = groups.get("margin")
            function = groups.get("function") or ""
            if margin is not None and (joined := _JOINED.match(function)):
                function, code = joined["function"], [joined["code"]]
            function = function.split("(")[0].strip()
            file = _BACKSLASH.sub("/", groups["file"].strip())
            found.append(Frame(file, int(groups.get("line") or 0), function, _dedented(code)))
            is_library = found[-1].in_library
        elif (numbered := _NUMBERED.match(line)) and found and margin is None:
            begins = not code and (numbered["arrow"] or int(numbered["line"]) == found[-1].line)
            if begins or (_open(code) and int(numbered["line"]) == number + 1):
                number = int(numbered["line"])
                code.append(numbered["code"])
                found[-1] = replace(found[-1], line=found[-1].line or number, code=_dedented(code))
        elif marked := _MARKED.match(line):
            code, margin = [" " + marked["code"]], None
        elif margin is not None and (text := _beyond(margin, line)) and _CARETS.match(text):
            if len(code) == 1 and found and not found[-1].marked:
                indent = len(code[0]) - len(code[0].lstrip())
                found[-1] = replace(
                    found[-1], marked=(max(0, len(text) - len(text.lstrip()) - indent), len(text) - indent)
                )
        elif margin is not None and text:
            if not code or _open(code):
                code.append(text[:400])
                found[-1] = replace(found[-1], code=_dedented(code), marked=())
            else:
                margin = None
        elif margin is None and _open(code) and line.startswith("    ") and not _CARETS.match(line):
            code.append(line[:400])
        elif _NAME.match(line) and found and not found[-1].function and not found[-1].code:
            found[-1] = replace(found[-1], function=line.strip())
        elif _PATH_BEGINS.match(line):
            path = line.strip()
        if not is_library:
            own_lines.append(written)
    return Traceback([frame for frame in found if not _SIMULATION.search(frame.file)], own_lines)


def _beyond(margin: str, line: str) -> str:
    """Return what a line has right of `margin`; "" if it cannot be the code of a frame that stood behind it."""
    indent = len(line) - len(line.lstrip())
    if not margin.strip():
        # Without any indents, as where a web page lost them, only an error's own line tells itself from code. The first
        # line of a paste may have kept one blank.
        return line if indent > len(margin) or (len(margin) < 2 and not _ERROR.match(line)) else ""
    alike = re.sub("[0-9]", "0", line[: len(margin)]) == re.sub("[0-9]", "0", margin)
    text = line[len(margin) :]
    return text if alike and text.startswith("  ") else ""


def _open(code: list[str]) -> bool:
    """Tell whether a statement goes on in the next line; not for a line that `rich` cut, which ends anywhere."""
    text = "".join(code)
    return (
        text.endswith(("(", "[", "{", ","))
        and len(code) < 10
        and sum(text.count(sign) for sign in "([{") > sum(text.count(sign) for sign in ")]}")
    )


def _dedented(code: list[str]) -> str:
    indent = min((len(line) - len(line.lstrip()) for line in code), default=0)
    return "\n".join(line[indent:] for line in code)
