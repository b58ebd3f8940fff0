"""What the entries of the catalog say of each other, and of code."""

import ast
import difflib
import re
from collections.abc import Iterator
from typing import Any

from samedevice.catalog import Cause, Claim, Clue, Lesson, Message, Operation, Other, Subject
from samedevice.catalog.patterns import mistake as pattern_mistake
from samedevice.catalog.patterns import needle, wanders
from samedevice.catalog.rows import Base, Mistake, Row

_DERIVED = {
    "op": {"method"},
    "joined": {"argument", "method"},
    "device_kind": {"device"},
    "others_kind": {"others"},
    "between": {"device", "others"},
}
_SIGN = 14  # words
_PAIRS = ("cpu and accelerator", "two accelerators", "meta")
_VERDICTS = ("false", "misleading", "incomplete", "does not run")
_HOMES = ("claims",)  # pages beside the lessons that a claim can be settled on


def references(rows: dict[type, list[Row]]) -> Iterator[Mistake]:
    """The mistakes in what entries of the right shape name."""
    for check in (_messages, _subjects, _clues, _causes, _others, _claims, _bases, _operations):
        yield from check(rows)


def _messages(rows: dict[type, list[Row]]) -> Iterator[Mistake]:
    bases = {row.name: row.keys["causes"] for row in rows[Base]}
    subjects = {row.name for row in rows[Subject]}
    for row in rows[Message]:
        keys = row.keys
        if keys["subject"] not in subjects:
            near = _near(keys["subject"], subjects) or f"; known are {', '.join(sorted(subjects))}"
            yield row.mistake("subject", f"there is no subject {keys['subject']!r} in subjects.toml{near}")
        for key in ("says", "patterns", "texts"):
            if not keys[key]:
                yield row.mistake(key, "empty: give at least one")
        yield from _patterns(row)
        names = _names(keys["patterns"])
        if (base := keys.get("base", "")) and base not in bases:
            yield row.mistake("base", f"there is no base {base!r} in bases.toml{_near(base, bases)}")
        for number, sentence in enumerate(keys["says"], 1):
            yield from _sentence(row, f"says {number}", sentence, names)
            if number < len(keys["says"]) and not _wanted(sentence):
                yield row.mistake(f"says {number}", "does for any text, so the sentences after it are never used")
        if keys["says"] and _wanted(keys["says"][-1]):
            yield row.mistake(f"says {len(keys['says'])}", "the last must do for any text: add one without {names}")
        yield from _prose(row, "title", "note", "ask")
        yield from _pairs(row)
        yield from _possible(row, keys.get("causes", []), names, rows)
        if not [*keys.get("causes", []), *bases.get(base, [])]:
            yield row.mistake("causes", "there is none, neither here nor in a base")
        for number, example in enumerate(keys.get("example", []), 1):
            for name in sorted(example["reads"].keys() - names):
                yield row.mistake(f"example {number}, reads, {name}", f"no pattern reads it{_near(name, names)}")


def _subjects(rows: dict[type, list[Row]]) -> Iterator[Mistake]:
    named = {message.keys["subject"] for message in rows[Message]}
    for row in rows[Subject]:
        if row.name not in named:
            yield row.mistake("name", "no message names this subject")
        yield from _prose(row, "heading")


def _bases(rows: dict[type, list[Row]]) -> Iterator[Mistake]:
    for row in rows[Base]:
        users = [message for message in rows[Message] if message.keys.get("base") == row.name]
        if not users:
            yield row.mistake("name", "no message names this base")
        # A base serves messages that read different things: of a name it is enough that one of them reads it.
        names = {name for message in users for name in _names(message.keys["patterns"])}
        yield from _possible(row, row.keys["causes"], names, rows)


def _possible(
    row: Row, causes: list[dict[str, Any]], names: set[str], rows: dict[type, list[Row]]
) -> Iterator[Mistake]:
    known = {cause.name for cause in rows[Cause]}
    for number, cause in enumerate(causes, 1):
        where = f"causes {number}"
        if cause["id"] not in known:
            yield row.mistake(
                f"{where}, id", f"there is no cause {cause['id']!r} in causes.toml{_near(cause['id'], known)}"
            )
        for name, pattern in cause.get("when", {}).items():
            if name not in names:
                yield row.mistake(f"{where}, when, {name}", f"no pattern reads it{_near(name, names)}")
            # An empty pattern holds where the message does not say it.
            if pattern and (wrong := pattern_mistake(pattern)):
                yield row.mistake(f"{where}, when, {name}", wrong)
        yield from _sentence(row, f"{where}, because", cause.get("because", ""), names)


def _clues(rows: dict[type, list[Row]]) -> Iterator[Mistake]:
    bases = {row.name: row.keys["causes"] for row in rows[Base]}
    messages = {row.name: row for row in rows[Message]}
    can_have = {
        name: {cause["id"] for cause in [*row.keys.get("causes", []), *bases.get(row.keys.get("base", ""), [])]}
        for name, row in messages.items()
    }
    known = {cause.name for cause in rows[Cause]}
    for row in rows[Clue]:
        keys = row.keys
        for key in ("pattern", "unless"):
            if keys.get(key) and (wrong := pattern_mistake(keys[key])):
                yield row.mistake(key, wrong)
        if keys.get("where", "trace") not in ("trace", "own", "line", "below"):
            yield row.mistake("where", f"{keys['where']!r} should be trace, own, line or below")
        meant = keys.get("messages") or list(messages)
        for message in keys.get("messages", []):
            if message not in messages:
                yield row.mistake("messages", f"there is no message {message!r}")
        names = {
            name for message in meant if message in messages for name in _names(messages[message].keys["patterns"])
        }
        yield from _sentence(row, "because", keys["because"], names)
        for cause in keys["causes"]:
            if cause not in known:
                yield row.mistake(f"causes, {cause}", f"there is no such cause in causes.toml{_near(cause, known)}")
            elif not any(cause in can_have.get(message, ()) for message in meant):
                yield row.mistake(f"causes, {cause}", "no message that this clue is for can have it")


def _causes(rows: dict[type, list[Row]]) -> Iterator[Mistake]:
    possible = {cause["id"] for row in [*rows[Message], *rows[Base]] for cause in row.keys.get("causes", [])}
    lessons = {row.name for row in rows[Lesson]}
    messages = {row.name for row in rows[Message]}
    for row in rows[Cause]:
        keys = row.keys
        if row.name not in possible:
            yield row.mistake("id", "no message can have this cause")
        if keys["lesson"] not in lessons:
            yield row.mistake("lesson", f"there is no lesson {keys['lesson']!r}{_near(keys['lesson'], lessons)}")
        for key in ("setup", "before", "after"):
            if wrong := _python(keys.get(key, "")):
                yield row.mistake(key, wrong)
        for key in ("before", "after", "commands"):
            for line in keys.get(key, "").splitlines():
                if len(line) > 80:
                    yield row.mistake(key, f"a line of {len(line)} characters; phones show 80: {line.strip()}")
        yield from _change(row)
        yield from _pairs(row)
        if (link := keys.get("link", "")) and not link.startswith("https://"):
            yield row.mistake("link", f"{link!r} should begin with https://")
        raises, unraised = keys.get("raises", ""), keys.get("unraised", "")
        if raises and raises not in messages:
            yield row.mistake("raises", f"there is no message {raises!r}")
        if bool(raises) == bool(unraised):
            yield row.mistake(
                "raises", "give the message that `before` raises, or in `unraised` why a test cannot raise it"
            )
        yield from _prose(row, "title", "why", "confirm", "sign", "unraised")
        if len(keys["sign"].split()) > _SIGN:
            yield row.mistake("sign", f"more than {_SIGN} words, for which a row has no room")
        for code in re.findall("`([^`]+)`", keys["sign"]):
            if code not in keys["confirm"].replace("`", ""):
                yield row.mistake("sign", f"`confirm` does not say {code}")
        if (read := keys.get("confirm_read", "")) and set(_wanted(read)) != {"name"}:
            yield row.mistake("confirm_read", "needs {name}, which stands for what the reader's line calls it")


def _pairs(row: Row) -> Iterator[Mistake]:
    for pair in row.keys.get("between", []):
        if pair not in _PAIRS:
            yield row.mistake("between", f"{pair!r} should be one of {', '.join(_PAIRS)}")


def _operations(rows: dict[type, list[Row]]) -> Iterator[Mistake]:
    known: set[str] = set()
    for row in rows[Operation]:
        if wrong := _operation_pattern(row.keys["op"]):
            yield row.mistake("op", wrong)
        for function in row.keys["functions"]:
            if function in known:
                yield row.mistake("functions", f"{function!r} has a row already")
            known.add(function)


def _operation_pattern(pattern: str) -> str | None:
    """What is wrong with a pattern of an operation's name, which is short: `*` and `+` may stand in it."""
    return pattern_mistake(re.sub(r"\\w[*+]", r"\\w{0,40}", pattern))


def _change(row: Row) -> Iterator[Mistake]:
    """What is wrong with how a cause says what to change: in lines of a program, or in commands."""
    before, after, commands = (row.keys.get(key, "").strip() for key in ("before", "after", "commands"))
    if commands:
        for key in ("before", "after"):
            if row.keys.get(key):
                yield row.mistake(key, "leave it out: commands are shown instead")
        for line in commands.splitlines():
            if not line.startswith(("$ ", "# ")):
                yield row.mistake("commands", f"begin each line with $ for a shell, or with #: {line}")
    elif not before or not after:
        yield row.mistake("after", "give before and after, the failing and the fixed lines, or commands")
    elif before == after:
        yield row.mistake("after", "the same as before: nothing was changed")


def _python(code: str) -> str | None:
    """What is wrong with lines of Python; lines that begin with "$ " are for a shell."""
    try:
        ast.parse("\n".join("" if line.startswith("$ ") else line for line in code.splitlines()))
    except SyntaxError as error:
        return f"not Python, nor a shell's lines, which begin with $: {error.msg} in its line {error.lineno}"
    return None


def _others(rows: dict[type, list[Row]]) -> Iterator[Mistake]:
    for row in rows[Other]:
        yield from _patterns(row)
        if not row.keys["patterns"]:
            yield row.mistake("patterns", "empty: give at least one")
        if not row.keys["link"].startswith("https://"):
            yield row.mistake("link", f"{row.keys['link']!r} should begin with https://")
        yield from _prose(row, "title", "says")


def _claims(rows: dict[type, list[Row]]) -> Iterator[Mistake]:
    homes = [*(row.name for row in rows[Lesson]), *_HOMES]
    for row in rows[Claim]:
        if row.keys["verdict"] not in _VERDICTS:
            yield row.mistake("verdict", f"{row.keys['verdict']!r} should be one of: {', '.join(_VERDICTS)}")
        if row.keys["home"] not in homes:
            yield row.mistake(
                "home", f"there is no lesson or page {row.keys['home']!r}{_near(row.keys['home'], homes)}"
            )
        yield from _prose(row, "claim", "truth", "proof", *(row.keys.keys() & {"short", "common"}))


def _patterns(row: Row) -> Iterator[Mistake]:
    for number, pattern in enumerate(row.keys["patterns"], 1):
        wrong = pattern_mistake(pattern)
        if not wrong and not needle(pattern):
            wrong = "it has no words that a text must contain: at least four letters outside groups"
        if not wrong and wanders(pattern):
            wrong = "begins with a long repeat: write \\b before it, or each letter of a text is tried as its start"
        if not wrong and ("\\n" in pattern or "  " in pattern):
            wrong = "never matches: text is read with its line ends and runs of blanks made single spaces"
        if wrong:
            yield row.mistake(f"patterns {number}", wrong)


def _names(patterns: list[str]) -> set[str]:
    """What `says` and `when` can use: what the patterns read, and what follows from it."""
    read = set(re.findall(r"\(\?P<(\w+)>", "".join(patterns)))
    return read | {name for name, needed in _DERIVED.items() if needed <= read}


def _wanted(sentence: str) -> list[str]:
    return re.findall(r"\{(\w+)\}", sentence)


def _sentence(row: Row, key: str, sentence: str, names: set[str]) -> Iterator[Mistake]:
    for name in _wanted(sentence):
        if name not in names:
            yield row.mistake(key, f"{{{name}}} is read by no pattern{_near(name, names)}")
    if sentence.count("`") % 2:
        yield row.mistake(key, "a ` is not closed")


def _prose(row: Row, *keys: str) -> Iterator[Mistake]:
    for key in keys:
        text = row.keys.get(key, "")
        if not text.strip() and key not in ("note", "ask", "unraised"):
            yield row.mistake(key, "empty")
        elif text.count("`") % 2:
            yield row.mistake(key, "a ` is not closed")


def _near(name: str, known: Any) -> str:
    near = difflib.get_close_matches(name, known, 1)
    return f"; do you mean {near[0]}?" if near else ""
