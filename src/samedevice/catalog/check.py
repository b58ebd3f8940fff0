"""Whether the catalog is what its readers take it for: every mistake with its file, entry and key.

First what the files hold, then what entries say of each other, then whether each message's own texts and examples are
read as that message. Each step needs the one before it to be without mistakes.
"""

from collections.abc import Collection
from typing import Any

from samedevice.catalog import Message, load
from samedevice.catalog.recognition import recognition
from samedevice.catalog.references import references
from samedevice.catalog.rows import Mistake, Row
from samedevice.catalog.shape import TABLES, shape


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
    rows: dict[type, list[Row]] = {kind: [] for _, kind, _ in TABLES.values()}
    return list(shape(rows)) or list(references(rows)) or list(recognition(rows[Message]))
