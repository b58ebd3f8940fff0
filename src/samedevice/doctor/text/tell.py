"""One line of Python that prints where the candidates are, for a reader whose error names several.

docs/assets/doctor/tell.js does the same in the browser.
"""

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from samedevice.doctor.diagnosis import Culprit

_OPENING, _CLOSING = "([{", ")]}"
_PLAIN = re.compile(r"[A-Za-z_][\w.]*", re.ASCII)


def tell(culprits: "Sequence[Culprit]", modules: Collection[str] = (), numbers: Collection[str] = ()) -> str:
    """Return the line that prints the device of each culprit, or "" where there is nothing to choose.

    Args:
        culprits: those that were read from a line, one of which is in the wrong place.
        modules: the expressions of those that are modules, which may hold no tensor.
        numbers: the expressions of those that are often numbers, which have no device.

    Example:
        >>> from samedevice.doctor.diagnosis import Culprit
        >>> tell([Culprit("fc", "cpu", "model_not_moved", ""), Culprit("x", "cpu", "input_not_moved", "")], ["fc"])
        'print({t.device for t in fc.state_dict().values()}, x.device)'
    """
    if len(culprits) < 2:
        return ""
    return f"print({', '.join(_device(culprit.expression, modules, numbers) for culprit in culprits)})"


def _device(expression: str, modules: Collection[str], numbers: Collection[str]) -> str:
    """Write what tells the device: a module has none itself, so those of its tensors."""
    text = " ".join(line.strip() for line in expression.split("\n"))
    if expression in numbers:
        return f'getattr({text}, "device", "a number")'
    if not _is_one_value(text):
        text = f"({text})"
    return f"{{t.device for t in {text}.state_dict().values()}}" if expression in modules else f"{text}.device"


def _is_one_value(expression: str) -> bool:
    """Tell whether `.device` behind an expression belongs to all of it: not to the `b` of `a + b`."""
    outside, depth = "", 0
    for sign in expression:
        depth += (sign in _OPENING) - (sign in _CLOSING)
        outside += sign if depth == 0 and sign not in _CLOSING else ""
    return _PLAIN.fullmatch(outside) is not None
