"""What a spawned process does before its own work, because it begins with a Python that knows nothing of its parent."""

import functools
import sys
from pathlib import Path
from typing import Any

from samedevice.doors.after_import import after_import

_BEGIN = """\
try:
    import sys
    sys.path.append({root!r})
    {statement}
except Exception:
    pass  # a Python that cannot import us runs what it was started for
"""


def run_first(name: str, statement: str) -> None:
    """Let each process that multiprocessing spawns from now on run a statement first.

    Args:
        name: what tells this statement from others.
        statement: a statement of one line. It can import `samedevice`.
    """
    after_import("multiprocessing.spawn", functools.partial(_patch, name, statement))


def _patch(name: str, statement: str) -> None:
    spawn: Any = sys.modules["multiprocessing.spawn"]
    prepare = spawn.get_preparation_data

    @functools.wraps(prepare)
    def prepare_and_run(process: str) -> dict[str, Any]:
        return {f"samedevice_{name}": _First(statement), **prepare(process)}

    spawn.get_preparation_data = prepare_and_run


class _First:
    """Runs where it is unpickled. As text, since it is read before the new process's sys.path is set."""

    def __init__(self, statement: str) -> None:
        self._text = _BEGIN.format(root=str(Path(__file__).parents[2]), statement=statement)

    def __reduce__(self) -> Any:
        return exec, (self._text, {})
