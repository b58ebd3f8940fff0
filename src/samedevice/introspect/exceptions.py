"""The message, the cause and the traceback of an exception, read from the slots of BaseException.

A class of exceptions may define `args`, `__cause__`, `__traceback__` or `__str__` as code, which could wait, raise or
end the process.
"""

import types
from collections.abc import Iterator
from typing import Any

from samedevice.introspect import classes

_ARGS = BaseException.__dict__["args"]
_CAUSE = BaseException.__dict__["__cause__"]
_CONTEXT = BaseException.__dict__["__context__"]
_SUPPRESS_CONTEXT = BaseException.__dict__["__suppress_context__"]
_TRACEBACK = BaseException.__dict__["__traceback__"]
_DICT = BaseException.__dict__["__dict__"]

# These `__str__` run nothing of the program's where all that they print is of a built-in type.
_BUILT_IN = (BaseException.__str__, OSError.__str__, KeyError.__str__, UnicodeDecodeError.__str__)
_PLAIN = (str, int, float, type(None))
_AT_MOST = 50  # exceptions of one chain


def chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error, then those of its group, then what it was raised from, and so on; each once, at most 50.

    An error raised inside an `except` block is followed by the one that the block caught, unless it says `from None`.
    """
    seen: set[int] = set()
    waiting = [error]
    while waiting and len(seen) < _AT_MOST:
        error = waiting.pop(0)
        if id(error) in seen:
            continue
        seen.add(id(error))
        yield error
        if issubclass(type(error), BaseExceptionGroup):
            waiting += BaseExceptionGroup.exceptions.__get__(error)
        cause, context = _CAUSE.__get__(error), _CONTEXT.__get__(error)
        if cause is not None:
            waiting.append(cause)
        elif context is not None and not _SUPPRESS_CONTEXT.__get__(error):
            waiting.append(context)


def traceback(error: BaseException) -> types.TracebackType | None:
    """Return its traceback, outermost frame first; None for an exception that was never raised."""
    found: types.TracebackType | None = _TRACEBACK.__get__(error)
    return found


def attribute(error: BaseException, name: str) -> Any:
    """Return what was set on the exception itself under a name, or None."""
    return dict.get(_DICT.__get__(error), name)  # the dictionary may be of a class of the program's


def set_attribute(error: BaseException, name: str, value: object) -> None:
    """Set an attribute on the exception itself, also where its class refuses any other way."""
    dict.__setitem__(_DICT.__get__(error), name, value)


def message(error: BaseException) -> str:
    """Return what `str(error)` gives, if that runs no code of the program; else "".

    Example:
        >>> message(KeyError("labels"))
        "'labels'"
    """
    args: tuple[Any, ...] = _ARGS.__get__(error)
    if len(args) == 1 and type(args[0]) is str and not issubclass(type(error), KeyError):
        return args[0]
    bases = classes.mro(type(error))
    to_str = next(classes.namespace(base)["__str__"] for base in bases if "__str__" in classes.namespace(base))
    printed = args
    if issubclass(type(error), OSError):
        printed += (OSError.filename.__get__(error), OSError.filename2.__get__(error))
    if any(to_str is built_in for built_in in _BUILT_IN) and all(type(argument) in _PLAIN for argument in printed):
        text: str = to_str(error)
        return text
    return ""


def remote(error: BaseException) -> str:
    """Return the traceback of the process of a pool in which an error was raised, as text; "" for one of this process.

    multiprocessing and concurrent.futures send the text along as the cause.
    """
    cause = _CAUSE.__get__(error)
    return message(cause) if cause is not None and name(cause) in ("RemoteTraceback", "_RemoteTraceback") else ""


def name(error: BaseException) -> str:
    """Return the name of its class, as a traceback prints it: without the module."""
    return classes.name(type(error))
