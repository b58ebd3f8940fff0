"""Something to do as soon as a module has been imported, and not before: what costs a program nothing until then.

The module's loader does it at the end of the import, so a name that the program binds by `from torch import tensor`
is bound afterwards.
"""

import importlib.machinery
import sys
import types
from collections.abc import Callable
from typing import Any

_waiting: dict[str, list[Callable[[], None]]] = {}


def after_import(name: str, do: Callable[[], None]) -> None:
    """Call a function when a module has been imported: now, if it has been already.

    Args:
        name: the module's name. Its package may be imported in order to find it, as always.
        do: what to call; what it raises is raised by the import.

    Example:
        >>> after_import("sys", lambda: print("imported"))
        imported
    """
    if name in sys.modules:
        do()
        return
    _waiting.setdefault(name, []).append(do)
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)


class _Finder:
    """A finder of modules that asks the others, and gives what they find a loader that does what waits for it."""

    @classmethod
    def find_spec(cls, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name not in _waiting:
            return None
        finders = [finder for finder in sys.meta_path if finder is not cls]
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in finders)), None)
        if spec is not None and spec.loader is not None:
            loader: Any = spec.loader
            load: Callable[[types.ModuleType], None] = loader.exec_module

            def load_and_do(module: types.ModuleType) -> None:
                del loader.exec_module  # the loader is as it was
                load(module)
                for do in _waiting.pop(name, ()):
                    do()

            loader.exec_module = load_and_do
        return spec
