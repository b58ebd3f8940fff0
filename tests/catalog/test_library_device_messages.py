"""Every text about devices in the sources of the libraries that people use on top of PyTorch is recognised."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from samedevice.catalog import Other
from samedevice.doctor.text.read import read

FILE = Path(__file__).with_name("library_device_messages.toml")
LIBRARIES = tomllib.loads(FILE.read_text(encoding="utf-8"))["library"]
ENTRIES = {"message", "other", "none"}


def said() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of the library and each of its rows."""
    for library in LIBRARIES:
        for row in library["said"]:
            yield f"{library['name']}, {row['at']} ({library['source']})", row


def recognised(text: str) -> str:
    """Return the id of the message or of the other error that the reader finds in a text, "" for none."""
    found = read(text)
    if found is None:
        return ""
    return found.id if isinstance(found, Other) else found.message.id


def mistake(where: str, row: dict[str, Any]) -> str:
    """Say what is wrong with a row, or with what the reader makes of its text; "" if nothing is.

    Args:
        where: the library, the file and the line, which begin the sentence.
        row: a row of the list.

    Example:
        >>> mistake("torch, a.py:1", {"text": "flux", "message": "SD001"})
        "torch, a.py:1: 'flux' should be recognised as SD001, and it is not recognised"
    """
    named = ENTRIES & row.keys()
    if len(named) != 1 or row.keys() - ENTRIES != {"at", "text"}:
        return f"{where}: a row has at, text and one of message, other and none; this one has {', '.join(row)}"
    wanted = row.get("message") or row.get("other") or ""
    # A library's texts are pasted as an error, or, where the text holds lines of a traceback, as they stand.
    found = recognised(row["text"] if "File " in row["text"] else f"ValueError: {row['text']}")
    if found == wanted:
        return ""
    is_found = f"it is recognised as {found}" if found else "it is not recognised"
    should = f"be recognised as {wanted}" if wanted else "need no entry"
    return f"{where}: {' '.join(row['text'].split())[:100]!r} should {should}, and {is_found}"


@pytest.mark.parametrize("name", dict.fromkeys(library["name"] for library in LIBRARIES))
def test_every_text_of_the_library_is_recognised(name: str) -> None:
    mistakes = [wrong for where, row in said() if where.startswith(f"{name}, ") and (wrong := mistake(where, row))]
    assert not mistakes, "\n".join(mistakes)


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        (
            {"at": "a.py:1", "text": "The flux differs", "message": "SD131"},
            "flux, a.py:1: 'The flux differs' should be recognised as SD131, and it is not recognised",
        ),
        (
            {
                "at": "a.py:1",
                "text": "weight is on the meta device, we need a `value` to put in on 0.",
                "none": "A joke.",
            },
            "should need no entry, and it is recognised as SD131",
        ),
        ({"at": "a.py:1", "text": "The flux differs"}, "one of message, other and none; this one has at, text"),
    ],
)
def test_a_mistake_is_named_in_a_sentence(row: dict[str, str], wrong: str) -> None:
    assert wrong in mistake("flux, a.py:1", row)
