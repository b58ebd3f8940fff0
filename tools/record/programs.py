"""Questions about programs: each function of tests/conformance/programs is called without arguments.

Its answer is what it returns, as JSON, or its error. A worker's error is told by its first and last line: between them
is a traceback with the paths of the machine.
"""

import importlib.util
import inspect
import json
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from record.errors import text

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "conformance" / "programs"


def programs() -> dict[str, Callable[[], Any]]:
    """Return every program, by "file.function"."""
    found: dict[str, Callable[[], Any]] = {}
    for path in sorted(FOLDER.glob("*.py")):
        module = _load(path)
        for name, function in vars(module).items():
            if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_"):
                found[f"{path.stem}.{name}"] = function
    return found


def _load(path: Path) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(f"conformance_{path.stem}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ask(program: Callable[[], Any]) -> dict[str, Any]:
    """Return the answer of one program: {"sees": what it returned} or {"error": type, "message": text}.

    It finds CUDA in use: some functions answer otherwise before its first use, and which program is first is chance.
    """
    torch.cuda.init()
    try:
        seen = program()
    except Exception as error:
        said = text(error)
        # With them goes an iterator of workers: found as garbage later, it waits for them for five seconds.
        traceback.clear_frames(error.__traceback__)
        if said.startswith("Caught"):
            lines = [line for line in str(error).splitlines() if line.strip()]
            said = f"{lines[0]} ... {lines[-1]}"
        return {"error": type(error).__name__, "message": said}
    answer: dict[str, Any] = json.loads(json.dumps({"sees": seen}))
    return answer
