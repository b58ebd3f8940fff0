"""What the checks of the catalog share: the entries of its files, and the mistakes in them."""

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from samedevice.catalog import Possible


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


_PAIRS = ("cpu and accelerator", "two accelerators", "meta")


@dataclass
class Base:
    name: str
    causes: list[Possible]


def prose(row: Row, *keys: str) -> Iterator[Mistake]:
    for key in keys:
        text = row.keys.get(key, "")
        if not text.strip() and key not in ("note", "ask", "unraised"):
            yield row.mistake(key, "empty")
        elif text.count("`") % 2:
            yield row.mistake(key, "a ` is not closed")


def pairs(row: Row) -> Iterator[Mistake]:
    for pair in row.keys.get("between", []):
        if pair not in _PAIRS:
            yield row.mistake("between", f"{pair!r} should be one of {', '.join(_PAIRS)}")


def near(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), 1)
    return f"; do you mean {close[0]}?" if close else ""
