"""What an entry of causes.toml must hold: lines that can be tested, where to read on, and words that fit a page."""

import ast
import functools
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from samedevice.catalog import Cause, Lesson, Message
from samedevice.catalog.rows import Base, Mistake, Row, near, pairs, prose

_TITLE = 60  # characters
_SIGN = 14  # words
_PROSE = 130  # words of `why` and `confirm`, which a reader of the page reads at a glance
_LENGTHS = range(2, 11)  # lines of a fix
_NOTEBOOKS = Path(__file__).parents[3] / "notebooks"  # in a checkout; whoever installed the package has none


def causes(rows: dict[type, list[Row]]) -> Iterator[Mistake]:
    """The mistakes in entries of the right shape."""
    titles: dict[str, str] = {}
    for row in rows[Cause]:
        yield from _messages(row, rows)
        yield from _change(row)
        yield from _lines(row)
        yield from _read_on(row, [lesson.name for lesson in rows[Lesson]])
        yield from _wider(row, rows[Cause])
        yield from pairs(row)
        yield from _words(row)
        if (first := titles.setdefault(row.keys["title"], row.name)) != row.name:
            yield row.mistake("title", f"{first} has the same: say what differs")


def _messages(row: Row, rows: dict[type, list[Row]]) -> Iterator[Mistake]:
    bases = {base.name: base.keys["causes"] for base in rows[Base]}
    having = {
        message.name
        for message in rows[Message]
        for cause in [*message.keys.get("causes", []), *bases.get(message.keys.get("base", ""), [])]
        if cause["id"] == row.name
    }
    raises, unraised = row.keys.get("raises", ""), row.keys.get("unraised", "")
    if bool(raises) == bool(unraised):
        yield row.mistake(
            "raises", "give the message that `before` raises, or in `unraised` why a test cannot raise it"
        )
    if raises and raises not in {message.name for message in rows[Message]}:
        yield row.mistake("raises", f"there is no message {raises!r}")
    elif raises and raises not in having:
        yield row.mistake(
            "raises", f"{raises} cannot have this cause: add it to `causes` of messages/{raises}.toml, or of its base"
        )
    elif not having:
        yield row.mistake("id", "no message can have this cause")


def _change(row: Row) -> Iterator[Mistake]:
    """Yield what is wrong with how a cause says what to change: in lines of a program, or in commands."""
    before, after, commands = (row.keys.get(key, "").strip() for key in ("before", "after", "commands"))
    if commands:
        for key in ("before", "after"):
            if row.keys.get(key):
                yield row.mistake(key, "leave it out: commands are shown instead")
        yield from _commands(row, commands.splitlines())
        if not row.keys.get("link"):
            yield row.mistake("link", "missing: who runs commands reads first what they do")
    elif not before or not after:
        yield row.mistake("after", "give before and after, the failing and the fixed lines, or commands")
    elif before == after:
        yield row.mistake("after", "the same as before: nothing was changed")
    if ".cuda(" in after:
        yield row.mistake("after", "hard-codes a GPU: write .to(device), or .to(x.device) of a tensor x")


def _commands(row: Row, lines: list[str]) -> Iterator[Mistake]:
    """Yield what is wrong with commands: each line is of one kind, and an alternative has lines and is not alone."""
    for line in lines:
        if not line.startswith(("$ ", ">>> ", "# ", "* ")):
            yield row.mistake("commands", f"begin each line with $ for a shell, >>> for a program, # or *: {line}")
    kinds = "".join("c" if line.startswith(("$ ", ">>> ")) else line[:1] for line in lines)
    if not re.search(r"^\$ ", "\n".join(lines), re.M):
        yield row.mistake("commands", "no line is for a shell: begin it with $")
    if re.search(r"\*(?!c)", kinds):
        yield row.mistake("commands", "an alternative is a line that begins with *, and the commands below it")
    if any(group.count("*") == 1 for group in kinds.split("#")):
        yield row.mistake("commands", "one alternative is none: name two or more with *")


def _lines(row: Row) -> Iterator[Mistake]:
    """Yield what is wrong with the lines themselves: they are no Python, too few, too many or too long."""
    for key in ("setup", "before", "after"):
        if wrong := _python(row.keys.get(key, "")):
            yield row.mistake(key, wrong)
    for key in ("before", "after", "commands"):
        lines = row.keys.get(key, "").strip("\n").splitlines()
        if lines and len(lines) not in _LENGTHS:
            yield row.mistake(key, f"a fix has {_LENGTHS[0]} to {_LENGTHS[-1]} lines, and this has {len(lines)}")
        for line in lines:
            if (shown := len(line) + 8 * line.startswith("* ")) > 80:  # "# Either: " stands before it
                yield row.mistake(key, f"a line of {shown} characters; phones show 80: {line.strip()}")


def _python(code: str) -> str | None:
    """Say what is wrong with lines of Python; lines that begin with "$ " are for a shell."""
    try:
        ast.parse("\n".join("" if line.startswith("$ ") else line for line in code.splitlines()))
    except SyntaxError as error:
        return f"not Python, nor a shell's lines, which begin with $: {error.msg} in its line {error.lineno}"
    return None


def _read_on(row: Row, lessons: Iterable[str]) -> Iterator[Mistake]:
    lesson, failure, link = row.keys["lesson"], row.keys.get("failure", ""), row.keys.get("link", "")
    sections = _sections(lesson)
    if lesson not in lessons:
        yield row.mistake("lesson", f"there is no lesson {lesson!r}{near(lesson, lessons)}")
    elif failure and sections and failure not in sections:
        known = near(failure, sections) or f"; known are {', '.join(sections)}"
        yield row.mistake("failure", f"{lesson} has no heading with the anchor {failure!r}{known}")
    if not failure and not link:
        yield row.mistake("failure", "give the anchor of the lesson's heading, or in `link` an address to read on")
    if link and not link.startswith("https://"):
        yield row.mistake("link", f"{link!r} should begin with https://")


@functools.cache
def _sections(lesson: str) -> list[str]:
    """The anchors of a lesson's headings, as the site writes them; none where its notebook is not here."""
    file = _NOTEBOOKS / f"{lesson}.ipynb"
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"] if file.is_file() else []
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    headings = re.findall(r"^## (.+)", text, re.M)
    return [re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in headings]


def _wider(row: Row, all_causes: list[Row]) -> Iterator[Mistake]:
    wider = {cause.name: cause.keys.get("within", "") for cause in all_causes}
    within = row.keys.get("within", "")
    if within and within not in wider:
        yield row.mistake("within", f"there is no cause {within!r}{near(within, wider)}")
    elif within and wider[within]:
        yield row.mistake("within", f"{within} is a case of {wider[within]} itself: name that")


def _words(row: Row) -> Iterator[Mistake]:
    keys = row.keys
    yield from prose(row, "title", "why", "confirm", "sign", "unraised")
    if len(keys["title"]) > _TITLE:
        yield row.mistake("title", f"{len(keys['title'])} characters; a row has room for {_TITLE}")
    if keys["title"].endswith("."):
        yield row.mistake("title", "a heading ends without a full stop")
    if (words := len(f"{keys['why']} {keys['confirm']}".split())) > _PROSE:
        yield row.mistake("why", f"with `confirm` {words} words; a page has room for {_PROSE}")
    if len(keys["sign"].split()) > _SIGN:
        yield row.mistake("sign", f"more than {_SIGN} words, for which a row has no room")
    for code in re.findall("`([^`]+)`", keys["sign"]):
        if code not in keys["confirm"].replace("`", ""):
            yield row.mistake("sign", f"`confirm` does not say {code}")
    if (read := keys.get("confirm_read", "")) and set(re.findall(r"\{(\w+)\}", read)) != {"name"}:
        yield row.mistake("confirm_read", "needs {name}, which stands for what the reader's line calls it")
