"""Several files written as one: all of them, or none; no reader ever finds half of one."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path


class NotWritten(Exception):  # noqa: N818 - what went wrong is said in a sentence
    """Why nothing was written, in one sentence."""


def write_files(files: Mapping[Path, tuple[bytes, bytes]]) -> None:
    """Write files, and keep their permissions.

    Args:
        files: by the path of each file, what it has to hold now, and what to write.

    Raises:
        NotWritten: one of them has changed meanwhile or cannot be written; then all are as they were.
    """
    beside: dict[Path, Path] = {}
    try:
        for path, (old, new) in files.items():
            if path.read_bytes() != old:
                raise NotWritten(f"{path.name} has changed meanwhile, so nothing was written: run it again.")
            beside[path] = _written_beside(path, new)
        _replace(beside, {path: old for path, (old, _) in files.items()})
    except OSError as error:
        name = Path(error.filename).name if isinstance(error.filename, str) else "a file"
        raise NotWritten(f"{name} cannot be written ({error.strerror}), so nothing was.") from None
    finally:
        for temporary in beside.values():
            with contextlib.suppress(OSError):  # it has taken the place of the file
                temporary.unlink()


def _written_beside(path: Path, content: bytes) -> Path:
    """Write a file beside another, where it can take that one's place in one step."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    shutil.copymode(path, name)
    return Path(name)


def _replace(beside: Mapping[Path, Path], old: Mapping[Path, bytes]) -> None:
    replaced = []
    try:
        for path, temporary in beside.items():
            temporary.replace(path)
            replaced.append(path)
    except OSError:
        for path in replaced:
            _written_beside(path, old[path]).replace(path)
        raise
