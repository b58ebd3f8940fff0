"""Devices named in prose, lists and tables: the same colour and shape that pictures give them."""

import re

_CLASSES = {"cpu": "cpu", "cuda:0": "cuda-0", "cuda:1": "cuda-1"}
# Code in a block of it, in a heading or in a button is as it is written there.
_NAME = re.compile(r"(<(pre|h[1-6]|button)\b.*?</\2>)|<code>(cpu|cuda:[01])</code>", re.S)


def with_shapes(html: str) -> str:
    """Return a page's content in which each `<code>cpu</code>` of a sentence or a cell has its device's class.

    Example:
        >>> with_shapes("<p>On <code>cuda:0</code></p>")
        '<p>On <code class="device cuda-0">cuda:0</code></p>'
    """
    return _NAME.sub(lambda it: it[1] or f'<code class="device {_CLASSES[it[3]]}">{it[3]}</code>', html)
