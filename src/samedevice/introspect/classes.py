"""The name, the bases and the namespace of a class, read from the slots of `type`.

`vars(cls)`, `cls.__mro__` and `cls.__name__` ask the metaclass first, and a metaclass may be the program's own code.
"""

import types
from collections.abc import Mapping
from typing import Any

_MRO = type.__dict__["__mro__"]
_NAMESPACE = type.__dict__["__dict__"]
_NAME = type.__dict__["__name__"]
_MODULE = type.__dict__["__module__"]
_DECORATORS = 20  # of one function; more are not looked through


def mro(cls: type) -> tuple[type, ...]:
    """Return a class and its bases, in the order in which Python looks a name up in them.

    Example:
        >>> [base.__name__ for base in mro(bool)]
        ['bool', 'int', 'object']
    """
    bases: tuple[type, ...] = _MRO.__get__(cls)
    return bases


def namespace(cls: type) -> Mapping[str, Any]:
    """Return what the body of a class defined: `vars(cls)`."""
    names: Mapping[str, Any] = _NAMESPACE.__get__(cls)
    return names


def defined(cls: type, attribute: str, default: Any = None) -> Any:
    """Return what a class or the first of its bases defines under this name, as it stands there; else the default.

    Example:
        >>> defined(bool, "real") is int.__dict__["real"]
        True
    """
    return next((namespace(base)[attribute] for base in mro(cls) if attribute in namespace(base)), default)


def name(cls: type) -> str:
    """Return `cls.__name__`."""
    text: str = _NAME.__get__(cls)
    return text


def module(cls: type) -> str:
    """Return `cls.__module__`, or "" if that is no text."""
    try:
        found = _MODULE.__get__(cls)
    except AttributeError:  # made by type(...) in a namespace that has no __name__
        return ""
    return found if type(found) is str else ""


def wrapped(function: types.FunctionType) -> list[types.FunctionType]:
    """Return a function, and those that its decorators wrapped with functools.wraps, outermost first.

    Example:
        >>> import functools
        >>> def inner(): ...
        >>> @functools.wraps(inner)
        ... def outer(): ...
        >>> wrapped(outer) == [outer, inner]
        True
    """
    found = [function]
    while type(inner := found[-1].__dict__.get("__wrapped__")) is types.FunctionType and len(found) < _DECORATORS:
        found.append(inner)
    return found
