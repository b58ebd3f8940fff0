"""What the checks of the catalog speak of: the entries of its files, and the mistakes in them."""

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


@dataclass
class Base:
    name: str
    causes: list[Possible]
