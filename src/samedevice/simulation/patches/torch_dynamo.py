"""TorchDynamo, by which torch.compile reads a program: while a simulation runs, it reads none, and code runs eagerly.

PyTorch has a switch for that, torch.compiler.set_stance("force_eager"). TorchDynamo takes seconds to import, so PyTorch
does that when a program first compiles something. Where that is while a simulation runs, it is imported as it is
without one, since it keeps PyTorch's functions for good.
"""

import importlib.machinery
import sys
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

from samedevice.simulation import state
from samedevice.simulation.patches import dynamo

_NAME = "torch._dynamo"


def replacements() -> Iterator[tuple[object, str, object]]:
    module = sys.modules.get(_NAME)
    if module is not None:
        yield module.eval_frame, "_stance", module.eval_frame.DynamoStance("force_eager")
        yield module.decorators, "_set_stance", lambda stance: module.eval_frame._stance
        yield module, "explain", explain
        yield module, "export", _export_of(module.export)


def start() -> None:
    """Look for the moment when a program imports it."""
    if _NAME not in sys.modules:
        sys.meta_path.insert(0, _finder)


def stop() -> None:
    """Look for that moment no more."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)


class _Finder:
    """Finds TorchDynamo where Python does, to be imported while nothing of the simulation is in place."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> Any:
        if name != _NAME:
            return None
        stop()
        spec: Any = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None and state.now.session is not None:
            spec.loader = _Loader(spec.loader, state.now.session)
        return spec


class _Loader:
    def __init__(self, loader: Any, session: state.Session) -> None:
        self._loader, self._session = loader, session

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        with self._session.lifted():
            self._loader.exec_module(module)
        self._session.replace(replacements())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


_finder: Any = _Finder()


def explain(f: Callable[..., Any], *extra_args: Any, **extra_kwargs: Any) -> Any:
    explained = dynamo.explain(f)
    return explained(*extra_args, **extra_kwargs) if extra_args or extra_kwargs else explained


def _export_of(original: Any) -> Any:
    def export(f: Callable[..., Any], *extra_args: Any, **options: Any) -> Any:
        def exported(*args: Any, **kwargs: Any) -> Any:
            with dynamo.tracing():
                return original(f, **options)(*args, **kwargs)

        return exported(*extra_args) if extra_args else exported

    return export
