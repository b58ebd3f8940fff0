"""What the entries of the catalog say of each other, and their patterns and sentences."""

import re
from collections.abc import Iterator
from typing import Any

from samedevice.catalog import (
    Application,
    Cause,
    Claim,
    Clue,
    DeviceRule,
    Lesson,
    Library,
    Message,
    Operation,
    Other,
    Subject,
)
from samedevice.catalog.causes import causes
from samedevice.catalog.patterns import mistake as pattern_mistake
from samedevice.catalog.patterns import needle, wanders
from samedevice.catalog.rows import Base, Mistake, Row, near, pairs, prose

_DERIVED = {
    "op": {"method"},
    "joined": {"argument", "method"},
    "device_kind": {"device"},
    "others_kind": {"others"},
    "between": {"device", "others"},
    "traced": {"device"},  # beside the message: samedevice.doctor.text.traced
    "operands": {"device"},
}
_VERDICTS = ("false", "misleading", "incomplete", "does not run")
_DECIDES = ("default", "data", "size", "cpu", "like", "operands", "move", "argument", "view", "copy")  # the device
_NO_TENSOR = ("values", "facts", "settings")
_HOMES = ("claims",)  # pages beside the lessons that a claim can be settled on


def references(rows: dict[type, list[Row]]) -> Iterator[Mistake]:
    """The mistakes in what entries of the right shape name."""
    for check in (
        _messages,
        _subjects,
        _clues,
        causes,
        _others,
        _claims,
        _bases,
        _operations,
        _devices,
        _applications,
        _libraries,
    ):
        yield from check(rows)


def _messages(rows: dict[type, list[Row]]) -> Iterator[Mistake]:
    bases = {row.name: row.keys["causes"] for row in rows[Base]}
    subjects = {row.name for row in rows[Subject]}
    for row in rows[Message]:
        keys = row.keys
        if keys["subject"] not in subjects:
            known = near(keys["subject"], subjects) or f"; known are {', '.join(sorted(subjects))}"
            yield row.mistake("subject", f"there is no subject {keys['subject']!r} in subjects.toml{known}")
        for key in ("says", "patterns", "texts"):
            if not keys[key]:
                yield row.mistake(key, "empty: give at least one")
        yield from _patterns(row)
        names = _names(keys["patterns"])
        if (base := keys.get("base", "")) and base not in bases:
            yield row.mistake("base", f"there is no base {base!r} in bases.toml{near(base, bases)}")
        for number, text in enumerate(keys["texts"], 1):
            if not text["torch"].strip():
                yield row.mistake(f"texts {number}, torch", "empty: name the release, or any")
        yield from _says(row, keys["says"], names)
        yield from _layers(row, keys.get("layers", []), names)
        yield from prose(row, "title", "note", "ask")
        yield from pairs(row)
        yield from _possible(row, keys.get("causes", []), names, rows)
        if not [*keys.get("causes", []), *bases.get(base, [])]:
            yield row.mistake("causes", "there is none, neither here nor in a base")
        for number, example in enumerate(keys.get("example", []), 1):
            for name in sorted(example["reads"].keys() - names):
                yield row.mistake(f"example {number}, reads, {name}", f"no pattern reads it{near(name, names)}")


def _says(row: Row, sentences: list[str], names: set[str]) -> Iterator[Mistake]:
    for number, sentence in enumerate(sentences, 1):
        yield from _sentence(row, f"says {number}", sentence, names)
        if not sentence.strip():
            yield row.mistake(f"says {number}", "empty")
        if number < len(sentences) and not _wanted(sentence):
            yield row.mistake(f"says {number}", "does for any text, so the sentences after it are never used")
    if sentences and _wanted(sentences[-1]):
        yield row.mistake(f"says {len(sentences)}", "the last must do for any text: add one without {names}")


def _layers(row: Row, layers: list[dict[str, Any]], names: set[str]) -> Iterator[Mistake]:
    for number, layer in enumerate(layers, 1):
        yield from _when(row, f"layers {number}", layer["when"], names)
        yield from _sentence(row, f"layers {number}, says", layer["says"], names)


def _subjects(rows: dict[type, list[Row]]) -> Iterator[Mistake]:
    named = {message.keys["subject"] for message in rows[Message]}
    for row in rows[Subject]:
        if row.name not in named:
            yield row.mistake("name", "no message names this subject")
        yield from prose(row, "heading")


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
                f"{where}, id", f"there is no cause {cause['id']!r} in causes.toml{near(cause['id'], known)}"
            )
        yield from _when(row, where, cause.get("when", {}), names)
        yield from _sentence(row, f"{where}, because", cause.get("because", ""), names)


def _when(row: Row, where: str, when: dict[str, str], names: set[str]) -> Iterator[Mistake]:
    for name, pattern in when.items():
        if name not in names:
            yield row.mistake(f"{where}, when, {name}", f"no pattern reads it{near(name, names)}")
        # An empty pattern holds where the message does not say it.
        if pattern and (wrong := pattern_mistake(pattern)):
            yield row.mistake(f"{where}, when, {name}", wrong)


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
                yield row.mistake(f"causes, {cause}", f"there is no such cause in causes.toml{near(cause, known)}")
            elif not any(cause in can_have.get(message, ()) for message in meant):
                yield row.mistake(f"causes, {cause}", "no message that this clue is for can have it")


def _operations(rows: dict[type, list[Row]]) -> Iterator[Mistake]:
    known: set[str] = set()
    for row in rows[Operation]:
        if wrong := _operation_pattern(row.keys["op"]):
            yield row.mistake("op", wrong)
        for function in row.keys["functions"]:
            if function in known:
                yield row.mistake("functions", f"{function!r} has a row already")
            known.add(function)


def _devices(rows: dict[type, list[Row]]) -> Iterator[Mistake]:
    known: dict[tuple[str, str], str] = {}
    for row in rows[DeviceRule]:
        if row.name not in (*_DECIDES, *_NO_TENSOR):
            yield row.mistake("by", f"{row.name!r} should be one of: {', '.join((*_DECIDES, *_NO_TENSOR))}")
        for key in ("functions", "methods", "attributes"):
            for name in row.keys.get(key, []):
                if (key, name) in known:
                    yield row.mistake(key, f"{name!r} stands in the rule {known[key, name]} already")
                known[key, name] = row.name


def _applications(rows: dict[type, list[Row]]) -> Iterator[Mistake]:
    for row in rows[Application]:
        for key in ("path", "named"):
            if row.keys.get(key) and (wrong := pattern_mistake(row.keys[key])):
                yield row.mistake(key, wrong)
        if bool(row.keys.get("part")) != ("part" in _names([row.keys["path"]])):
            yield row.mistake("part", "give it a name if the path reads (?P<part>...), and only then")
        if not row.keys.get("part"):
            yield from _address(row, "report")
        if row.keys.get("link"):
            yield from _address(row, "link")
        yield from prose(row, "name", *(row.keys.keys() & {"why"}))
        for number, sentence in enumerate(row.keys.get("tries", []), 1):
            yield from _sentence(row, f"tries {number}", sentence, set())


def _libraries(rows: dict[type, list[Row]]) -> Iterator[Mistake]:
    for row in rows[Library]:
        yield from _address(row, "report")


def _address(row: Row, key: str) -> Iterator[Mistake]:
    if not row.keys[key].startswith("https://"):
        yield row.mistake(key, f"{row.keys[key]!r} should begin with https://")


def _operation_pattern(pattern: str) -> str | None:
    """Say what is wrong with a pattern of an operation's name, which is short: `*` and `+` may stand in it."""
    return pattern_mistake(re.sub(r"\\w[*+]", r"\\w{0,40}", pattern))


def _others(rows: dict[type, list[Row]]) -> Iterator[Mistake]:
    for row in rows[Other]:
        yield from _patterns(row)
        if not row.keys["patterns"]:
            yield row.mistake("patterns", "empty: give at least one")
        yield from _address(row, "link")
        yield from prose(row, "title", "says")


def _claims(rows: dict[type, list[Row]]) -> Iterator[Mistake]:
    homes = [*(row.name for row in rows[Lesson]), *_HOMES]
    for row in rows[Claim]:
        if row.keys["verdict"] not in _VERDICTS:
            yield row.mistake("verdict", f"{row.keys['verdict']!r} should be one of: {', '.join(_VERDICTS)}")
        if row.keys["home"] not in homes:
            yield row.mistake("home", f"there is no lesson or page {row.keys['home']!r}{near(row.keys['home'], homes)}")
        yield from prose(row, "claim", "truth", "proof", *(row.keys.keys() & {"short", "common"}))


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
    """Return what `says` and `when` can use: what the patterns read, and what follows from it."""
    read = set(re.findall(r"\(\?P<(\w+)>", "".join(patterns)))
    return read | {name for name, needed in _DERIVED.items() if needed <= read}


def _wanted(sentence: str) -> list[str]:
    return re.findall(r"\{(\w+)\}", sentence)


def _sentence(row: Row, key: str, sentence: str, names: set[str]) -> Iterator[Mistake]:
    for name in _wanted(sentence):
        if name not in names:
            yield row.mistake(key, f"{{{name}}} is read by no pattern{near(name, names)}")
    if sentence.count("`") % 2:
        yield row.mistake(key, "a ` is not closed")
