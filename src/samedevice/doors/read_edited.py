"""A process in which Python reads some files as they would be with edits, while the files themselves stay as they are.

What reads source of Python reads them so: imports, `python -m`, the main module of a spawned process, and linecache,
from which tracebacks, `inspect` and the doctor have their lines. Other readers of a file find what is on the disk.
"""

import functools
import importlib.machinery
import importlib.util
import io
import linecache
import multiprocessing.spawn
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
    spawn: Any = multiprocessing.spawn
    spawn.get_preparation_data = _get_preparation_data(spawn.get_preparation_data)


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


class _Beginning:
    """Begins the same where it is unpickled. As text, since it is read before the child's sys.path is set."""

    def __reduce__(self) -> Any:
        root = str(Path(__file__).parents[2])
        begin = f"import sys; sys.path.append({root!r}); from samedevice.doors import read_edited"
        return exec, (f"{begin}; read_edited.begin({_edited!r})",)


def _get_preparation_data(original: Any) -> Any:
    def get_preparation_data(name: str) -> dict[str, Any]:
        return {"samedevice_edited": _Beginning(), **original(name)}

    return get_preparation_data
