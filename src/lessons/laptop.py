"""`without_gpu`: what a function of a notebook does on a machine without a GPU. It runs in a process that sees none.

A process that has used its GPUs, real or simulated, cannot hide them from itself. So a second process is started with
CUDA_VISIBLE_DEVICES empty, and it waits for calls until the notebook's own process ends. Another process cannot import
a notebook, so a function travels as its code, with the modules, functions and values that it names.
"""

import builtins
import contextlib
import importlib
import io
import marshal
import os
import pickle
import traceback
from multiprocessing import get_context
from multiprocessing.connection import Connection
from types import CodeType, FunctionType, ModuleType
from typing import Any

# A function's file, name and first line, and the line that was reached.
_Frame = tuple[str, str, int, int]
# This process's end of the pipe to the other one, which is started by the first call.
_laptop: Connection | None = None


def without_gpu(function: FunctionType, *arguments: Any) -> Any:
    """Call a function in a process that sees no GPU; print what it printed, return or raise what it returned or raised.

    An exception shows the lines of the function, as if it had been raised here.

    Args:
        function: written in Python; it may use modules, and functions and picklable values of the notebook.
        arguments: what to call it with, all picklable.

    Raises:
        Exception: what the function raised.

    Example:
        >>> without_gpu(lambda: torch.cuda.is_available())
        False
    """
    global _laptop
    if _laptop is None:
        _laptop = _start()
    _laptop.send_bytes(pickle.dumps((_Packed(function), arguments)))
    printed, result, error, frames = pickle.loads(_laptop.recv_bytes())
    print(printed, end="")
    if error is None:
        return result
    raise _along(error, frames)


class _Packed:
    """A function as another process can read it: its code, and what the code and the functions it calls name."""

    def __init__(self, function: FunctionType) -> None:
        self.codes: dict[str, bytes] = {}
        self.modules: dict[str, str] = {}
        self.values: dict[str, Any] = {}
        self._add("", function)

    def _add(self, name: str, function: FunctionType) -> None:
        self.codes[name] = marshal.dumps(function.__code__)
        for other in _names(function.__code__) & function.__globals__.keys() - self.codes.keys():
            value = function.__globals__[other]
            if isinstance(value, ModuleType):
                self.modules[other] = value.__name__
            elif isinstance(value, FunctionType) and value.__module__ == "__main__":
                self._add(other, value)
            else:
                self.values[other] = value

    def function(self) -> FunctionType:
        names = self.values | {name: importlib.import_module(module) for name, module in self.modules.items()}
        names["__builtins__"] = builtins
        for name, code in self.codes.items():
            names[name] = FunctionType(marshal.loads(code), names)
        function: FunctionType = names[""]
        return function


def _names(code: CodeType) -> set[str]:
    """Return the names that a function's code looks up, those of functions inside it included."""
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _start() -> Connection:
    """Start the process. It ends when this one does, however this one ends: its pipe is then closed."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES")
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    try:
        context.Process(target=_answer_calls, args=(theirs,), daemon=True).start()
    finally:
        del os.environ["CUDA_VISIBLE_DEVICES"]
        if hidden is not None:
            os.environ["CUDA_VISIBLE_DEVICES"] = hidden
    theirs.close()
    return ours


def _answer_calls(calls: Connection) -> None:
    with contextlib.suppress(EOFError, KeyboardInterrupt):
        while True:
            calls.send_bytes(pickle.dumps(_answer(*pickle.loads(calls.recv_bytes()))))


def _answer(packed: Any, arguments: tuple[Any, ...]) -> tuple[str, Any, Exception | None, list[_Frame]]:
    """Return what a call printed, returned and raised, and the lines of the notebook through which the error came."""
    printed, files = io.StringIO(), {code.co_filename for code in map(marshal.loads, packed.codes.values())}
    function = packed.function()
    with contextlib.redirect_stdout(printed):
        try:
            result = function(*arguments)
            return printed.getvalue(), result, None, []
        except Exception as error:
            frames = [
                (code.co_filename, code.co_name, code.co_firstlineno, number)
                for code, number in ((frame.f_code, number) for frame, number in traceback.walk_tb(error.__traceback__))
                if code.co_filename in files
            ]
            return printed.getvalue(), None, error.with_traceback(None), frames


def _along(error: Exception, frames: list[_Frame]) -> Exception:
    """Return the error with a traceback through lines of the notebook, the first one outermost."""
    for filename, name, first, number in reversed(frames):
        source = "\n" * (first - 1) + "def function():" + "\n" * (number - first) + " raise error"
        names: dict[str, Any] = {"error": error}
        exec(compile(source, filename, "exec"), names)
        function = names["function"]
        function.__code__ = function.__code__.replace(co_name=name, co_qualname=name)
        try:
            function()
        except Exception as raised:
            assert raised.__traceback__
            error = raised.with_traceback(raised.__traceback__.tb_next)  # without this function's own frame
    return error
