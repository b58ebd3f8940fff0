"""Prose in lines of a width: code between backticks is never broken, nor is an address."""

import re
import textwrap


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Break a text into lines of at most `width` columns.

    Args:
        text: the text; what stands between backticks stays on one line.
        width: how many columns; a longer word has a line of its own.
        indent: what each line begins with.

    Example:
        >>> wrapped("Call `x.to(device)` before.", 20)
        ['Call `x.to(device)`', 'before.']
        >>> wrapped("Call `x = x.to(device)`.", 16)
        ['Call', '`x = x.to(device)`.']
    """
    unbroken = re.sub("`[^`]+`", lambda code: code[0].replace(" ", "\0"), text)
    lines = textwrap.wrap(
        unbroken,
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\0", " ") for line in lines]
