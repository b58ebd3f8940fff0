"""`python -m samedevice.catalog`: exit 2 and a line for every mistake in the catalog, or 0 and what the catalog holds.

With `--next`, it prints the number of the next message instead.

First it checks what the files hold, then what entries say of each other, then whether each message's own texts and
examples are read as that message. Each step needs the one before it to be without mistakes.
"""

import sys
from collections import defaultdict
from collections.abc import Collection
from typing import Any

from samedevice.catalog import Message, load, message_files
from samedevice.catalog.references import references
from samedevice.catalog.rows import Mistake, Row
from samedevice.catalog.shape import shape
from samedevice.doctor.recognition import recognition


def main(*arguments: str) -> int:
    """Print each mistake, or else how much the catalog holds. Return 2 or 0, for the shell."""
    if arguments == ("--next",):
        print(next_number())
        return 0
    if arguments:
        print("python -m samedevice.catalog takes nothing, or --next for the number of a new message.", file=sys.stderr)
        return 2
    found = mistakes()
    for mistake in found:
        print(mistake)
    if found:
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
    """Return every mistake of the first step that finds any."""
    rows: dict[type, list[Row]] = defaultdict(list)
    return list(shape(rows)) or list(references(rows)) or list(recognition(rows[Message]))


def next_number() -> str:
    """Return the id for a new message: one more than the last, because no number is given twice."""
    return f"SD{max(int(message[2:]) for message in message_files() if message[2:].isdecimal()) + 1:03}"


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
