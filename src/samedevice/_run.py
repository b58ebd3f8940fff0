"""`samedevice run`: a script as `python SCRIPT ARGS...` would run it, but on simulated GPUs.

The simulation begins when torch has been imported, not before: what a script sets first (CUDA_VISIBLE_DEVICES,
OMP_NUM_THREADS) counts, and a name bound by `from torch import tensor` is the simulation's. It ends with the process.
"""

import atexit
import builtins
import contextlib
import importlib.machinery
import io
import itertools
import os
import sys
import threading
import traceback
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from samedevice.introspect import exceptions
from samedevice.introspect.tracebacks import without_our_frames
from samedevice.plurals import counted

# These start processes of their own, in which nothing would be simulated.
_LAUNCHERS = {
    "torchrun": "torchrun -m samedevice run",
    "accelerate": "accelerate launch -m samedevice run",
    "python": "samedevice run",
    "python3": "samedevice run",
}


class Misuse(Exception):  # noqa: N818 - the program's user erred, not the program
    """What is wrong with what was asked for, in one sentence that says what to do."""


def run(script: str, arguments: Sequence[str], *, gpus: int, full: bool = False, summary: bool = False) -> int:
    """Run `script` as `__main__` on simulated GPUs; returns 0 when it has ended.

    What the script raises is reported as Python would, and passed on for Python to end the process by: its SystemExit
    with its code, KeyboardInterrupt with its signal, anything else with exit code 1. A device error is explained first.

    Arguments:
        script: its path.
        arguments: what it finds in sys.argv[1:].
        gpus: how many GPUs.
        full: show all frames of a device error's traceback, of any other the simulation's too.
        summary: print what moved between devices when the process ends.

    Raises:
        Misuse: the script cannot be read or compiled, or is a launcher of other processes.
        BaseException: what the script raised.

    Example:
        >>> run("train.py", ["--epochs", "2"], gpus=2)  # doctest: +SKIP
        0
    """
    try:
        path = script if Path(script).is_absolute() else f"{Path.cwd()}{os.sep}{script}"  # as Python has it: "./" stays
    except OSError as error:
        raise Misuse(f"the current directory cannot be read: {error.strerror}. Change to one that exists.") from None
    program = _compiled(script, path)
    beginning = _Beginning(gpus, summary)
    standard_hook, threading.excepthook = sys.excepthook, _in_thread(threading.excepthook, full)
    _become_main(script, path, arguments)
    beginning.wait_for_torch()
    try:
        exec(program, vars(sys.modules["__main__"]))
        return 0
    except SystemExit:
        raise
    except BaseException as error:
        failure = error
    # Here no error is being handled, as where Python calls sys.excepthook.
    beginning.failed = True
    _report(failure, full, path, standard_hook)
    if isinstance(failure, ModuleNotFoundError) and failure.name == "torch":
        say(f"{sys.executable!a} has no torch: use the Python that has it, as in `python -m samedevice run`.")
    hook = getattr(sys, "excepthook", standard_hook)

    def said_already(*_: Any) -> None:
        sys.excepthook = hook  # for what follows under python -i

    sys.excepthook = said_already
    raise failure


def say(sentence: str) -> None:
    """One line on stderr."""
    _write(f"samedevice: {sentence}\n")


def _compiled(script: str, path: str) -> types.CodeType:
    name = ascii(script)
    if Path(script).name in _LAUNCHERS:
        inside = _LAUNCHERS[Path(script).name]
        raise Misuse(f"{name} starts processes that would not be simulated: use `{inside} SCRIPT ...` instead.")
    try:
        if Path(path).is_dir():
            raise Misuse(f"{name} is a directory: name the script in it.")
        with io.open_code(path) as file:
            source = file.read()
    except FileNotFoundError:
        raise Misuse(f"there is no script {name}.") from None
    except OSError as error:
        raise Misuse(f"{name} cannot be read: {error.strerror}.") from None
    try:
        return compile(source, path, "exec", dont_inherit=True)
    except (MemoryError, RecursionError):
        raise Misuse(f"{name} is not valid Python: it is nested too deeply.") from None
    except (SyntaxError, ValueError) as error:  # ValueError: Python 3.11, of a null byte
        line = getattr(error, "lineno", None)
        what = f"{error.msg} (line {line})" if isinstance(error, SyntaxError) and line else str(error)
        raise Misuse(f"{name} is not valid Python: {what}.") from None


def _become_main(script: str, path: str, arguments: Sequence[str]) -> None:
    """What `python SCRIPT` does before the first line. Pickle and spawned processes look for it in sys.modules."""
    main = types.ModuleType("__main__")
    main.__file__ = path
    main.__loader__ = importlib.machinery.SourceFileLoader("__main__", path)
    vars(main).update(__builtins__=builtins, __cached__=None)
    if "__annotations__" in vars(sys.modules["__main__"]):
        vars(main)["__annotations__"] = {}
    sys.modules["__main__"] = main
    sys.argv[:] = [script, *arguments]
    if not sys.flags.safe_path:
        sys.path[0] = str(Path(path).resolve().parent)


class _Beginning:
    """Begins the simulation as soon as torch is imported."""

    def __init__(self, gpus: int, summary: bool) -> None:
        self.gpus, self.summary = gpus, summary
        self.begun = self.failed = False

    def wait_for_torch(self) -> None:
        process = os.getpid()
        atexit.register(lambda: self._end() if os.getpid() == process else None)  # not in a forked child
        if "torch" in sys.modules:  # a .pth file, or sitecustomize
            self._begin()
        else:
            sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """As a finder of modules: where torch is, with a loader that begins the simulation when it has loaded it."""
        if name != "torch" or self.begun:
            return None
        finders = [finder for finder in sys.meta_path if finder is not self]
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in finders)), None)
        if spec is not None and spec.loader is not None:
            loader: Any = spec.loader
            load: Callable[[types.ModuleType], None] = loader.exec_module

            def load_and_begin(module: types.ModuleType) -> None:
                del loader.exec_module  # the loader is as it was
                load(module)
                self._begin()

            loader.exec_module = load_and_begin
        return spec

    def _begin(self) -> None:
        if self.begun:
            return
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        try:
            real = _real_gpus()
            from samedevice.simulation import devices, simulate_cuda

            simulate_cuda(self.gpus).start()
        except Exception as error:  # a torch.py of the user's own, a torch of long ago
            self.failed = True
            what = f"{type(error).__name__}: {error}".partition("\n")[0]
            file = getattr(sys.modules["torch"], "__file__", None)
            say(f"the simulation cannot begin with {file!a}, which should be PyTorch 2.11 to 2.15 ({what}).")
            raise SystemExit(2) from None
        self.begun = True
        if self.summary:
            from samedevice import _moves

            _moves.count()
        if os.environ.get("LOCAL_RANK", "0") != "0":
            return  # said by rank 0
        seen = ""
        if devices.count() < self.gpus:
            seen = f", {devices.count()} of them seen through CUDA_VISIBLE_DEVICES={os.environ['CUDA_VISIBLE_DEVICES']}"
        unused = f"; {counted(real, 'real GPU')} of this machine stay{'s' * (real == 1)} unused" if real else ""
        say(f"{counted(self.gpus, 'simulated GPU')}, on the CPU{seen}{unused}.")
        if {"TORCHELASTIC_RUN_ID", "RANK", "LOCAL_RANK"} & os.environ.keys():  # torchrun, and what is like it
            say('NCCL is not simulated. gloo works between simulated GPUs, if named: init_process_group("gloo").')

    def _end(self) -> None:
        if not self.begun and not self.failed:
            say("the script did not import torch itself, so it ran without simulated GPUs, as do programs it starts.")
        if self.begun and self.summary:
            from samedevice import _moves

            say("\n  ".join(_moves.summary()))


def _real_gpus() -> int:
    import warnings

    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a driver that is missing or too old
        return int(torch.cuda.device_count())


def _report(error: BaseException, full: bool, path: str, standard_hook: Callable[..., Any]) -> None:
    """Print what Python prints of an uncaught error, without our frames; a device error's diagnosis before it."""
    diagnosed = _explain(error)
    _forget_ours(error, full)
    hook: Any = getattr(sys, "excepthook", standard_hook)
    if diagnosed and hook is standard_hook and not full:
        _write(_folded(error, path))
        return
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, exceptions.traceback(error)  # for pdb.pm()
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    try:
        hook(type(error), error, exceptions.traceback(error))
    except SystemExit:
        raise
    except BaseException as second:  # in the program's own hook: what Python says of it
        _write("Error in sys.excepthook:\n")
        trace = without_our_frames(exceptions.traceback(second))
        sys.__excepthook__(type(second), BaseException.with_traceback(second, trace), None)
        _write("\nOriginal exception was:\n")
        sys.__excepthook__(type(error), error, exceptions.traceback(error))


def _in_thread(hook: Callable[[Any], Any], full: bool) -> Callable[[Any], None]:
    """threading.excepthook, to which an error in a thread comes: the process goes on."""

    def explain_first(args: Any) -> None:
        error = args.exc_value
        if error is not None:
            _explain(error)
            _forget_ours(error, full)
            args = threading.ExceptHookArgs((args.exc_type, error, exceptions.traceback(error), args.thread))
        hook(args)

    return explain_first


def _explain(error: BaseException) -> bool:
    """Print the diagnosis of a device error; whether it is one."""
    diagnosis = _diagnosis(error) if isinstance(error, Exception | BaseExceptionGroup) else ""
    if diagnosis:
        _write(f"\n{diagnosis}\n")
    return bool(diagnosis)


def _write(text: str) -> None:
    """To stderr, if anybody reads it: a script must not fail for it."""
    with contextlib.suppress(Exception):  # of a stderr of the script's own, too
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()


def _forget_ours(error: BaseException, full: bool) -> None:
    for raised in exceptions.chain(error):
        trace = without_our_frames(exceptions.traceback(raised), outer_only=full)
        BaseException.with_traceback(raised, trace)  # a frozen class may not be set


def _diagnosis(error: BaseException) -> str:
    try:
        from samedevice.doctor import explain

        diagnosis = explain(error)
        return str(diagnosis) if diagnosis.message else ""
    except Exception:  # a fault of ours must not hide the program's
        return ""


def _folded(error: BaseException, path: str) -> str:
    """The traceback as Python prints it, with one line for neighbouring frames of libraries."""
    from samedevice.introspect.libraries import is_library

    class Folded(traceback.StackSummary):
        def format(self, **options: Any) -> list[str]:
            lines = []
            for folded, frames in itertools.groupby(
                self, lambda frame: frame.filename != path and is_library(frame.filename)
            ):
                those = list(frames)
                if folded:
                    lines.append(f"  [{len(those)} frame{'s' * (len(those) > 1)} of libraries: --full shows all]\n")
                else:
                    lines += traceback.StackSummary.from_list(those).format(**options)
            return lines

    whole = traceback.TracebackException(type(error), error, exceptions.traceback(error), compact=True)
    todo = [whole]
    while todo:
        shown = todo.pop()
        shown.stack = Folded(shown.stack)
        todo += filter(None, (shown.__cause__, shown.__context__, *(getattr(shown, "exceptions", None) or ())))
    return "".join(whole.format())
