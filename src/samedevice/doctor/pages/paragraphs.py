"""The parts of a page that is text. Each is one string, and an empty one is left out."""

import textwrap
from collections.abc import Iterable

from samedevice.doctor.wrapping import wrapped


def joined(parts: Iterable[str]) -> str:
    """Join the parts of a page, with an empty line between two of them."""
    return "\n\n".join(filter(None, parts)) + "\n"


def heading(text: str, width: int) -> str:
    """Write a heading, underlined; code is not marked in it, as in no heading of the site."""
    lines = wrapped(text.replace("`", ""), width)
    return "\n".join([*lines, "-" * max(map(len, lines))])


def paragraph(text: str, width: int) -> str:
    return "\n".join(wrapped(text, width))


def block(lines: Iterable[str]) -> str:
    """Write lines as they are, indented."""
    return textwrap.indent("\n".join(lines).rstrip(), "    ")


def items(rows: Iterable[tuple[str, str]], width: int) -> str:
    """Write a list: of each row its name, and below it what is said of it, if anything."""
    lines: list[str] = []
    for name, text in rows:
        first, *rest = wrapped(name, width - 4, "  ")
        lines += [first, *(f"    {line}" for line in rest), *wrapped(text, width, "      ")]
    return "\n".join(lines)
