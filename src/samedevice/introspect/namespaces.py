"""The names of a frame, a function or an object, and texts, read without running any of the program's code.

`exec` takes any mapping for its locals and any dict for its globals, and a class's body may have names of its own
making. A subclass of dict is read by the slots of `dict`, and no other mapping is read. A name may be of a class that
derives from `str`, which hashes and compares as it likes: it is read as the text that it is.
"""

import itertools
import operator
import sys
import types
from typing import Any

from samedevice.introspect import classes


def plain(text: str) -> str:
    """Return a text as a `str`, and of no class that derives from it."""
    return text if type(text) is str else str.__str__(text)


def names(namespace: Any) -> dict[str, Any]:
    """Return the names of a namespace; {} for a mapping that only the program's code could read.

    Example:
        >>> names({"x": 1})
        {'x': 1}
    """
    kind = type(namespace)
    if kind is _OF_A_FUNCTION and kind is not dict:
        return dict(namespace)
    if not any(base is dict for base in classes.mro(kind)):
        return {}
    # Compared by `is`, as a class may have a metaclass that hashes and compares as it likes.
    if kind is dict and all(map(operator.is_, map(type, namespace), itertools.repeat(str))):
        return namespace
    items = dict.items(namespace)
    return {plain(name): value for name, value in items if any(base is str for base in classes.mro(type(name)))}


def globals_of(function: types.FunctionType) -> dict[str, Any]:
    """Return the globals of a function."""
    return names(function.__globals__)


def _type_of_locals() -> type:
    """Return the class of a function's `f_locals`: from Python 3.13 on it is a view, which is Python's own."""
    return type(sys._getframe().f_locals)


_OF_A_FUNCTION = _type_of_locals()
