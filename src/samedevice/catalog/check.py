"""Whether the catalog is what its readers take it for: every mistake with its file, entry and key.

First what the files hold, then what entries say of each other, then whether each message's own texts and examples are
read as that message. Each step needs the one before it to be without mistakes.
"""

import ast
import dataclasses
import difflib
import re
import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from samedevice.catalog import Cause, Claim, Clue, Lesson, Message, Other, Possible, load
from samedevice.catalog.patterns import mistake as pattern_mistake
from samedevice.catalog.patterns import needle, wanders
from samedevice.doctor import explain

_DERIVED = {"op": {"method"}, "device_kind": {"device"}, "others_kind": {"others"}, "between": {"device", "others"}}
_UNWRITTEN = {"method", "device_kind", "others_kind", "between"}
_VERDICTS = ("false", "misleading", "incomplete", "does not run")
_HOMES = ("myths",)  # pages beside the lessons that a claim can be settled on


class Mistake(NamedTuple):
    file: str
    entry: str
    key: str
    text: str

    def __str__(self) -> str:
        return ": ".join(part for part in self if part)


class Row(NamedTuple):
    """One entry of a file, as TOML gives it."""

    file: str
    name: str
    keys: dict[str, Any]

    def mistake(self, key: str, text: str) -> Mistake:
        return Mistake(self.file, self.name, key, text)


@dataclass
class _Text:
    torch: str
    text: str


@dataclass
class _Example:
    text: str
    reads: dict[str, str]
    first: str = ""


@dataclass
class _Base:
    name: str
    causes: list[Possible]


# The keys of an entry and their types: those of its dataclass, and what `load` makes of them.
_KEYS: dict[type, dict[str, Any]] = {
    kind: get_type_hints(kind)
    for kind in (_Base, _Text, _Example, Possible, Message, Clue, Cause, Other, Claim, Lesson)
}
_KEYS[Message] |= {"texts": list[_Text], "example": list[_Example]}
del _KEYS[Message]["examples"]

_TABLES: dict[str, tuple[str, type, str]] = {  # of each file: its table, what an entry becomes, the key that names it
    "messages": ("message", Message, "id"),
    "bases.toml": ("base", _Base, "name"),
    "clues.toml": ("clue", Clue, ""),
    "causes.toml": ("cause", Cause, "id"),
    "other.toml": ("other", Other, "id"),
    "claims.toml": ("claim", Claim, "id"),
    "lessons.toml": ("lesson", Lesson, "slug"),
}
_NAMED = {
    Message: (r"SD[0-9]{3}", "SD and three digits, such as SD001"),
    _Base: (r"[a-z][a-z0-9-]*", "words in small letters with hyphens"),
    Cause: (r"[a-z][a-z0-9_]*", "words in small letters with underscores"),
    Other: (r"[a-z][a-z0-9_]*", "words in small letters with underscores"),
    Claim: (r"[a-z][a-z0-9-]*", "words in small letters with hyphens"),
    Lesson: (r"[0-9]{2}-[a-z0-9-]+", "two digits and words in small letters with hyphens"),
}


def main() -> int:
    """Print what is wrong, a line each, or how much there is; 2 or 0, for the shell."""
    wrong = mistakes()
    for one in wrong:
        print(one)
    if wrong:
        return 2
    catalog = load()
    texts = sum(len(message.texts) + len(message.examples) for message in catalog.messages.values())
    counts: dict[str, Collection[Any]] = {
        f"messages with {texts} texts": catalog.messages,
        "causes": catalog.causes,
        "clues": catalog.clues,
        "other errors": catalog.other,
        "claims": catalog.claims,
        "lessons": catalog.lessons,
    }
    print(", ".join(f"{len(entries)} {what}" for what, entries in counts.items()) + ": no mistake.")
    return 0


def mistakes() -> list[Mistake]:
    rows: dict[type, list[Row]] = {kind: [] for _, kind, _ in _TABLES.values()}
    found = list(_files(rows))
    found = found or [
        mistake for check in (_messages, _clues, _causes, _others, _claims, _bases) for mistake in check(rows)
    ]
    return found or list(_recognition(rows[Message]))


# ---- What the files hold


def _files(rows: dict[type, list[Row]]) -> Iterator[Mistake]:
    """The mistakes in the shape of the files, whose entries go into `rows`."""
    folder = resources.files("samedevice.catalog")
    names = [name for name in _TABLES if name.endswith(".toml")]
    names += [f"messages/{file.name}" for file in (folder / "messages").iterdir() if file.name.endswith(".toml")]
    for name in sorted(names):
        table, kind, named_by = _TABLES[name.split("/")[0]]
        try:
            content = tomllib.loads((folder / name).read_text(encoding="utf-8"))
        except FileNotFoundError:
            yield Mistake(name, "", "", "there is no such file")
            continue
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            yield Mistake(name, "", "", f"not TOML in UTF-8: {error}")
            continue
        for other in sorted(content.keys() - {table}):
            yield Mistake(name, "", other, f"unknown: entries of this file are called {table}")
        entries = content.get(table)
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            yield Mistake(name, "", table, f"missing or no list of entries: write [[{table}]] before each")
            continue
        for number, keys in enumerate(entries, 1):
            row = Row(name, str(keys.get(named_by) or f"{table} {number}"), keys)
            yield from (row.mistake(key, text) for key, text in _shape(keys, kind))
            yield from _name(row, kind, named_by, rows[kind])
            rows[kind].append(row)


def _shape(keys: dict[str, Any], kind: type, prefix: str = "") -> Iterator[tuple[str, str]]:
    """What is wrong with the keys of an entry, or of a part of it, and with their types."""
    known = _KEYS[kind]
    for key, value in keys.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            yield prefix + key, f"unknown key; {f'do you mean {near[0]}?' if near else 'known are ' + ', '.join(known)}"
        else:
            yield from _typed(value, known[key], prefix + key)
    optional = {
        part.name
        for part in dataclasses.fields(kind)
        if part.default is not dataclasses.MISSING or part.default_factory is not dataclasses.MISSING
    }
    for key in sorted(known.keys() - keys.keys() - optional - {"example"}):
        yield prefix + key, "missing"


def _typed(value: Any, wanted: Any, key: str) -> Iterator[tuple[str, str]]:
    if wanted in _KEYS:
        if isinstance(value, dict):
            yield from _shape(value, wanted, f"{key}, ")
        else:
            yield key, f"{value!r} should be a table: {{key = value, ...}}"
    elif get_origin(wanted) is list:
        if isinstance(value, list):
            for number, one in enumerate(value, 1):
                yield from _typed(one, get_args(wanted)[0], f"{key} {number}")
        else:
            yield key, f"{value!r} should be a list: [...]"
    elif get_origin(wanted) is dict:
        if isinstance(value, dict):
            for name, one in value.items():
                yield from _typed(one, get_args(wanted)[1], f"{key}, {name}")
        else:
            yield key, f"{value!r} should be a table: {{name = value, ...}}"
    elif wanted is str and not isinstance(value, str):
        yield key, f'{value!r} should be a string: "..."'
    elif wanted is bool and not isinstance(value, bool):
        yield key, f"{value!r} should be true or false"
    elif wanted is float and (isinstance(value, bool) or not isinstance(value, int | float)):
        yield key, f"{value!r} should be a number"


def _name(row: Row, kind: type, key: str, earlier: list[Row]) -> Iterator[Mistake]:
    name = row.keys.get(key)
    if not isinstance(name, str):
        return
    form, words = _NAMED[kind]
    if not re.fullmatch(form, name):
        yield row.mistake(key, f"{name!r} should be {words}")
    for other in earlier:
        if other.name == name:
            yield row.mistake(key, f"{name!r} is taken by another entry, in {other.file}")


# ---- What entries say of each other


def _messages(rows: dict[type, list[Row]]) -> Iterator[Mistake]:
    bases = {row.name: row.keys["causes"] for row in rows[_Base]}
    for row in rows[Message]:
        keys = row.keys
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
        yield from _possible(row, keys.get("causes", []), names, rows)
        if not [*keys.get("causes", []), *bases.get(base, [])]:
            yield row.mistake("causes", "there is none, neither here nor in a base")
        for number, example in enumerate(keys.get("example", []), 1):
            for name in sorted(example["reads"].keys() - names):
                yield row.mistake(f"example {number}, reads, {name}", f"no pattern reads it{_near(name, names)}")


def _bases(rows: dict[type, list[Row]]) -> Iterator[Mistake]:
    for row in rows[_Base]:
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
            if wrong := pattern_mistake(pattern):
                yield row.mistake(f"{where}, when, {name}", wrong)
        yield from _sentence(row, f"{where}, because", cause.get("because", ""), names)


def _clues(rows: dict[type, list[Row]]) -> Iterator[Mistake]:
    bases = {row.name: row.keys["causes"] for row in rows[_Base]}
    messages = {row.name: row for row in rows[Message]}
    can_have = {
        name: {cause["id"] for cause in [*row.keys.get("causes", []), *bases.get(row.keys.get("base", ""), [])]}
        for name, row in messages.items()
    }
    known = {cause.name for cause in rows[Cause]}
    for row in rows[Clue]:
        keys = row.keys
        if wrong := pattern_mistake(keys["pattern"]):
            yield row.mistake("pattern", wrong)
        if keys.get("where", "trace") not in ("trace", "code", "line"):
            yield row.mistake("where", f"{keys['where']!r} should be trace, code or line")
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
    possible = {cause["id"] for row in [*rows[Message], *rows[_Base]] for cause in row.keys.get("causes", [])}
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
        for key in ("before", "after"):
            for line in keys[key].splitlines():
                if len(line) > 80:
                    yield row.mistake(key, f"a line of {len(line)} characters; phones show 80: {line.strip()}")
        if keys["before"].strip() == keys["after"].strip():
            yield row.mistake("after", "the same as before: nothing was changed")
        raises, unraised = keys.get("raises", ""), keys.get("unraised", "")
        if raises and raises not in messages:
            yield row.mistake("raises", f"there is no message {raises!r}")
        if bool(raises) == bool(unraised):
            yield row.mistake(
                "raises", "give the message that `before` raises, or in `unraised` why a test cannot raise it"
            )
        yield from _prose(row, "title", "why", "confirm", "unraised")


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
        yield from _prose(row, "claim", "truth", "proof")


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


# ---- Whether each message is read as itself


def _recognition(rows: list[Row]) -> Iterator[Mistake]:
    for row in rows:
        for number, text in enumerate(row.keys["texts"], 1):
            yield from _read(row, f"texts {number}", text["text"], {})
        for number, example in enumerate(row.keys.get("example", []), 1):
            yield from _read(row, f"example {number}", example["text"], example)


def _read(row: Row, key: str, text: str, example: dict[str, Any]) -> Iterator[Mistake]:
    diagnosis = explain(text)
    if diagnosis.message is None or diagnosis.message.id != row.name:
        instead = diagnosis.message or diagnosis.other
        yield row.mistake(f"{key}, text", f"read as {instead.id}" if instead else "read as no message at all")
        return
    if not diagnosis.causes:
        yield row.mistake(key, "no cause holds for it: give the message one that needs nothing read")
    reads, wanted = diagnosis.reads, example.get("reads", diagnosis.reads)
    for name in sorted(wanted.keys() | reads.keys()):
        # What follows from other names need not be written down.
        if (name in wanted or name not in _UNWRITTEN) and reads.get(name, "") != wanted.get(name, ""):
            yield row.mistake(
                f"{key}, reads, {name}", f"{wanted.get(name, '')!r} expected, {reads.get(name, '')!r} read"
            )
    first = diagnosis.causes[0].id if diagnosis.causes else ""
    if example.get("first", first) != first:
        yield row.mistake(f"{key}, first", f"{example['first']!r} expected, {first!r} comes first")
