"""The lines of a file, as Python's linecache has them, without asking a loader of the program's.

A module may bring a `__loader__`, or a `__spec__` with one, whose `get_source` linecache would call where there is no
file of that name. Only the loader of archives is asked, which is Python's own.
"""

import contextlib
import importlib.machinery
import linecache
import tokenize
import zipimport
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def lines(file: str, globals_: dict[str, Any]) -> list[str]:
    """Return the lines of a file; none where it cannot be read.

    Args:
        file: its name, which is exactly a `str`.
        globals_: the names of the module that was compiled from it.
    """
    if is_kept(file) or (_exists(file) and not _is_lazy(file)):
        return linecache.getlines(file)
    if _exists(file):
        return _read(file)
    return _in_archive(globals_) or ([] if _is_lazy(file) else linecache.getlines(file))


def is_kept(file: str) -> bool:
    """Tell whether linecache has the lines, so that it asks nobody."""
    return len(linecache.cache.get(file, ())) > 1


@contextlib.contextmanager
def kept(files: dict[str, list[str]]) -> Iterator[None]:
    """Inside, linecache knows these files, and asks no loader for them."""
    unknown = {file: linecache.cache.get(file) for file in files if not is_kept(file)}
    linecache.cache.update((file, (0, None, files[file], file)) for file in unknown)
    try:
        yield
    finally:
        for file, entry in unknown.items():
            if entry is None:
                linecache.cache.pop(file, None)
            else:
                linecache.cache[file] = entry


def _is_lazy(file: str) -> bool:
    """Tell whether linecache has a function that it would call for the lines."""
    return len(linecache.cache.get(file, ())) == 1


def _exists(file: str) -> bool:
    try:
        return Path(file).is_file()
    except (OSError, ValueError):
        return False


def _read(file: str) -> list[str]:
    """Read a file for which linecache has a function too."""
    with contextlib.suppress(OSError, UnicodeError, SyntaxError), tokenize.open(file) as opened:
        return opened.readlines()
    return []


def _in_archive(globals_: dict[str, Any]) -> list[str]:
    """Return the lines of a module that was imported from a zip file."""
    loader, name, spec = (globals_.get(f"__{of}__") for of in ("loader", "name", "spec"))
    if type(spec) is importlib.machinery.ModuleSpec:  # a module that runs as __main__ keeps its name here
        name = vars(spec).get("name", name)
    if type(loader) is not zipimport.zipimporter or type(name) is not str or "get_source" in vars(loader):
        return []
    try:
        return (loader.get_source(name) or "").splitlines(keepends=True)
    except ImportError:
        return []
