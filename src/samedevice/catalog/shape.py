"""What the files of the catalog hold: TOML, the keys of each entry and their types, and names of their own."""

import dataclasses
import difflib
import re
import tomllib
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, get_args, get_origin, get_type_hints

from samedevice.catalog import (
    Application,
    Cause,
    Claim,
    Clue,
    DeviceRule,
    InLayer,
    Lesson,
    Library,
    Message,
    Operation,
    Other,
    Possible,
    Practice,
    Subject,
    message_files,
)
from samedevice.catalog.rows import Base, Mistake, Row


@dataclass
class _Text:
    torch: str
    text: str


@dataclass
class _Example:
    text: str
    reads: dict[str, str]
    first: str = ""


_KINDS = (
    Base,
    _Text,
    _Example,
    Possible,
    InLayer,
    Message,
    Subject,
    Clue,
    Cause,
    Other,
    Claim,
    Lesson,
    Practice,
    Operation,
    Application,
    Library,
    DeviceRule,
)
# The keys of an entry and their types: those of its dataclass, and what `load` makes of them.
_KEYS: dict[type, dict[str, Any]] = {kind: get_type_hints(kind) for kind in _KINDS}
_KEYS[Message] |= {"texts": list[_Text], "example": list[_Example]}
for _key in ("id", "examples"):
    del _KEYS[Message][_key]

TABLES: dict[str, tuple[str, type, str]] = {  # of each file: its table, what an entry becomes, the key that names it
    "subjects.toml": ("subject", Subject, "name"),
    "bases.toml": ("base", Base, "name"),
    "clues.toml": ("clue", Clue, ""),
    "causes.toml": ("cause", Cause, "id"),
    "other.toml": ("other", Other, "id"),
    "claims.toml": ("claim", Claim, "id"),
    "lessons.toml": ("lesson", Lesson, "slug"),
    "practice.toml": ("practice", Practice, "slug"),
    "operations.toml": ("operation", Operation, ""),
    "factories.toml": ("rule", DeviceRule, "by"),
    "applications.toml": ("application", Application, ""),
    "libraries.toml": ("library", Library, "name"),
}
_NAMED = {
    Subject: (r"[a-z][a-z0-9-]*", "words in small letters with hyphens"),
    Base: (r"[a-z][a-z0-9-]*", "words in small letters with hyphens"),
    Cause: (r"[a-z][a-z0-9_]*", "words in small letters with underscores"),
    Other: (r"[a-z][a-z0-9_]*", "words in small letters with underscores"),
    Claim: (r"[a-z][a-z0-9-]*", "words in small letters with hyphens"),
    DeviceRule: (r"[a-z]+", "a word in small letters"),
    Library: (r"[A-Za-z_]\w*", "a name that Python can import"),
    Lesson: (r"[0-9]{2}-[a-z0-9-]+", "two digits and words in small letters with hyphens"),
    Practice: (r"practice-[0-9]-[a-z0-9-]+", "practice, a digit and words in small letters, with hyphens"),
}


def shape(rows: dict[type, list[Row]]) -> Iterator[Mistake]:
    """The mistakes in the shape of the files, whose entries go into `rows`."""
    for name, (table, kind, named_by) in sorted(TABLES.items()):
        content = yield from _content(name, resources.files("samedevice.catalog") / name)
        if content is None:
            continue
        for other in sorted(content.keys() - {table}):
            yield Mistake(name, "", other, f"unknown: entries of this file are called {table}")
        entries = content.get(table)
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            yield Mistake(name, "", table, f"missing or no list of entries: write [[{table}]] before each")
            continue
        for number, keys in enumerate(entries, 1):
            row = Row(name, str(keys.get(named_by) or f"{table} {number}"), keys)
            yield from (row.mistake(key, text) for key, text in _keys(keys, kind))
            yield from _name(row, kind, named_by, rows[kind])
            rows[kind].append(row)
    yield from _messages(rows[Message])


def _messages(rows: list[Row]) -> Iterator[Mistake]:
    for message, file in sorted(message_files().items()):
        name = f"messages/{file.name}"
        if not re.fullmatch("SD[0-9]{3}", message):
            yield Mistake(name, "", "", "the file should be called SD and three digits, such as SD001.toml")
            continue
        keys = yield from _content(name, file)
        if keys is not None:
            row = Row(name, message, keys)
            yield from (row.mistake(key, text) for key, text in _keys(keys, Message))
            rows.append(row)


def _content(name: str, file: Traversable) -> Generator[Mistake, None, dict[str, Any] | None]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        yield Mistake(name, "", "", "there is no such file")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        yield Mistake(name, "", "", f"not TOML in UTF-8: {error}")
    return None


def _keys(keys: dict[str, Any], kind: type, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the keys of an entry, or of a part of it, and with their types."""
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
            yield from _keys(value, wanted, f"{key}, ")
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
