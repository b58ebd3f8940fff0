"""Check that each message of the catalog is read as itself, in its texts and in its examples."""

from collections.abc import Iterator
from typing import Any

from samedevice.catalog.rows import Mistake, Row
from samedevice.doctor.explanation import explain

_UNWRITTEN = {"method", "device_kind", "others_kind", "between"}


def recognition(rows: list[Row]) -> Iterator[Mistake]:
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
