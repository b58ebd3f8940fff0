"""A process in which Python reads some files as they would be with edits, while the files themselves stay as they are.

What reads source of Python reads them so: imports, `python -m`, the main module of a spawned process, and linecache,
from which tracebacks, `inspect` and the doctor have their lines. Other readers of a file find what is on the disk.
"""

import functools
import importlib.machinery
import importlib.util
import io
import linecache
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from samedevice.doors.spawned import run_first

_edited: dict[str, bytes] = {}


def begin(files: Mapping[str, bytes]) -> None:
    """Read these files so from now on, in processes too that are spawned from here.

    Args:
        files: what each file is to hold, by its resolved path.
    """
    _edited.update(files)
    if not files:
        return
    loader: Any = importlib.machinery.SourceFileLoader
    loader.get_code = _get_code(loader.get_code)
    loader.get_data = _get_data(loader.get_data)
    io.open_code = _open_code(io.open_code)
    run_first("edited", f"from samedevice.doors import read_edited; read_edited.begin({_edited!r})")


def _content(path: str) -> bytes | None:
    """Return what a file is to hold, and show it to linecache; None for a file without edits."""
    content = _edited.get(_resolved(path))
    if content is not None and path not in linecache.cache:
        lines = io.StringIO(importlib.util.decode_source(content)).readlines()
        linecache.cache[path] = (len(content), None, lines, path)  # without a time, it is not compared with the disk
    return content


@functools.cache
def _resolved(path: str) -> str:
    return str(Path(path).resolve())


def _get_code(original: Any) -> Any:
    def get_code(self: Any, fullname: str) -> Any:
        path = self.get_filename(fullname)
        content = _content(path)
        # Not through the folder __pycache__, which belongs to the file on the disk.
        return original(self, fullname) if content is None else self.source_to_code(content, path)

    return get_code


def _get_data(original: Any) -> Any:
    def get_data(self: Any, path: Any) -> bytes:
        content = _content(os.fspath(path))
        return original(self, path) if content is None else content

    return get_data


def _open_code(original: Any) -> Any:
    def open_code(path: str) -> Any:
        content = _content(path)
        return original(path) if content is None else io.BytesIO(content)

    return open_code
