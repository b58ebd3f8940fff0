"""The texts of a message, release by release: what a page shows first, and what it shows last."""

import itertools

from samedevice.catalog import Message

_OPEN = 400  # characters of wordings that come first

Wordings = list[tuple[str, list[str]]]


def usual_text(message: Message) -> str:
    """Return the whole text of a message that most people have."""
    return next(text["text"] for text in message.texts if text["text"].startswith(message.usual))


def wordings(texts: list[dict[str, str]]) -> tuple[Wordings, Wordings]:
    """Return each text once, under the releases that have it: those that a page begins with, then the others."""
    releases: dict[str, list[str]] = {}
    for text in texts:
        releases.setdefault(text["text"], []).append(text["torch"])
    groups = [(_release(torch), list(same)) for torch, same in itertools.groupby(releases, key=releases.__getitem__)]
    lengths = itertools.accumulate(sum(map(len, same)) for _, same in groups)
    is_open = [number == 0 or length <= _OPEN for number, length in enumerate(lengths)]
    return groups[: sum(is_open)], groups[sum(is_open) :]


def _release(torch: list[str]) -> str:
    """Write the line above a text; the catalog's releases may be "any", "2.13.0", "up to 1.13" or "torch_npu"."""
    name = ", as in ".join(torch)
    if name == "any":
        return "Any release"
    return name if name.startswith("torch") else f"torch{' ' if name[0].isdigit() else ', '}{name}"
