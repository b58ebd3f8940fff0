"""`samedevice run`: a program as `python SCRIPT ARGS...` would run it, but on simulated GPUs.

The simulation begins when torch has been imported, not before: what a program sets first (CUDA_VISIBLE_DEVICES,
OMP_NUM_THREADS) counts, and a name bound by `from torch import tensor` is the simulation's. It ends with the process.
"""

import atexit
import contextlib
import importlib.machinery
import itertools
import json
import os
import sys
import threading
import traceback
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from samedevice.doors.program import Misuse, Program
from samedevice.introspect import exceptions
from samedevice.introspect.tracebacks import without_our_frames
from samedevice.plurals import counted
from samedevice.tested_torch import TESTED

if TYPE_CHECKING:
    from samedevice.doctor import Diagnosis


def run(
    program: Program,
    arguments: Sequence[str],
    *,
    gpus: int,
    rng: Literal["cpu", "cuda"] = "cuda",
    full: bool = False,
    summary: bool = False,
    json_file: str | None = None,
    annotate: bool = False,
) -> int:
    """Run a program as `__main__` on simulated GPUs, and return 0 when it has ended.

    What the program raises is reported as Python would, and passed on for Python to end the process by: its SystemExit
    with its code, KeyboardInterrupt with its signal, anything else with exit code 1. A device error is explained first.

    Args:
        program: what to run.
        arguments: what it finds in sys.argv[1:].
        gpus: how many GPUs.
        rng: whose random numbers they draw.
        full: show all frames of a device error's traceback, of any other the simulation's too.
        summary: print what moved between devices when the process ends.
        json_file: where to write what is known of the first device error, or that there was none; None for nowhere.
        annotate: also print annotations of GitHub Actions on standard output.

    Raises:
        Misuse: there is no such module.
        BaseException: what the program raised.

    Example:
        >>> run(program.named("train.py"), ["--epochs", "2"], gpus=2)  # doctest: +SKIP
        0
    """
    beginning = _Beginning(gpus, rng, summary)
    told = _Told(json_file, annotate)
    standard_hook, threading.excepthook = sys.excepthook, _in_thread(threading.excepthook, full, told)
    program.become_main(arguments)
    beginning.wait_for_torch()
    try:
        program.execute()
        told.end()
        return 0
    except Misuse:
        beginning.failed = True
        raise
    except SystemExit:
        told.end()
        raise
    except BaseException as error:
        failure = error
    # Here no error is being handled, as where Python calls sys.excepthook.
    beginning.failed = True
    _report(failure, full, program.file, standard_hook, told)
    told.end()
    if isinstance(failure, ModuleNotFoundError) and failure.name == "torch":
        say(f"{sys.executable!a} has no torch: use the Python that has it, as in `python -m samedevice run`.")
    hook = getattr(sys, "excepthook", standard_hook)

    def said_already(*_: Any) -> None:
        sys.excepthook = hook  # for what follows under python -i

    sys.excepthook = said_already
    raise failure


def say(sentence: str) -> None:
    """Write one line on stderr."""
    _write(f"samedevice: {sentence}\n")


class _Beginning:
    """The beginning of the simulation, as soon as torch is imported."""

    def __init__(self, gpus: int, rng: Literal["cpu", "cuda"], summary: bool) -> None:
        self.gpus, self.rng, self.summary = gpus, rng, summary
        self.begun = self.failed = False

    def wait_for_torch(self) -> None:
        process = os.getpid()
        atexit.register(lambda: self._end() if os.getpid() == process else None)  # not in a forked child
        if "torch" in sys.modules:  # a .pth file, or sitecustomize
            self._begin()
        else:
            sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """Find torch, as a finder of modules does, with a loader that begins the simulation after the import."""
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
            from samedevice.simulation import simulate_cuda
            from samedevice.simulation.device import devices
            from samedevice.simulation.patches import process_group_nccl

            process_group_nccl.tell = say
            simulate_cuda(self.gpus, rng=self.rng).start()
        except Exception as error:  # a torch.py of the user's own, a torch of long ago
            self.failed = True
            what = f"{type(error).__name__}: {error}".partition("\n")[0]
            file = getattr(sys.modules["torch"], "__file__", None)
            say(f"the simulation cannot begin with {file!a}, which should be PyTorch {TESTED} ({what}).")
            raise SystemExit(2) from None
        self.begun = True
        if self.summary:
            from samedevice.doors import copies

            copies.count()
        if os.environ.get("LOCAL_RANK", "0") != "0":
            return  # said by rank 0
        seen = ""
        if devices.count() < self.gpus:
            seen = f", {devices.count()} of them seen through CUDA_VISIBLE_DEVICES={os.environ['CUDA_VISIBLE_DEVICES']}"
        unused = f"; {counted(real, 'real GPU')} of this machine stay{'s' * (real == 1)} unused" if real else ""
        numbers = ", with the CPU's random numbers" if self.rng == "cpu" else ""
        say(f"{counted(self.gpus, 'simulated GPU')}, on the CPU{numbers}{seen}{unused}.")

    def _end(self) -> None:
        if not self.begun and not self.failed:
            say("the script did not import torch itself, so it ran without simulated GPUs, as do programs it starts.")
        if self.begun and self.summary:
            from samedevice.doors import copies

            say("\n  ".join(copies.summary()))


def _real_gpus() -> int:
    import warnings

    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a driver that is missing or too old
        return int(torch.cuda.device_count())


class _Told:
    """What is told of device errors beside the text: a file of JSON, annotations of GitHub Actions."""

    def __init__(self, json_file: str | None, annotate: bool) -> None:
        self._file = Path(json_file).absolute() if json_file is not None else None  # the script may change directory
        self._annotate = annotate
        self._folder = Path.cwd() if annotate else None
        self._first: Diagnosis | None = None

    def tell(self, diagnosis: "Diagnosis") -> None:
        """Note a device error, and annotate it at once."""
        self._first = self._first or diagnosis
        if self._annotate:
            from samedevice.doctor.annotations import as_annotations

            with contextlib.suppress(Exception):  # of a stdout of the script's own
                sys.stdout.write(as_annotations(diagnosis, self._folder))
                sys.stdout.flush()

    def end(self) -> None:
        """Write the file, if one was asked for."""
        if self._file is None:
            return
        from samedevice.doctor.diagnosis import Diagnosis
        from samedevice.doctor.diagnosis_json import as_data

        data = as_data(self._first or Diagnosis(None, "The script raised no device error."))
        try:
            self._file.write_text(json.dumps(data, indent=2) + "\n", "utf-8")
        except OSError as error:
            say(f"{str(self._file)!a} cannot be written: {error.strerror}.")


def _report(error: BaseException, full: bool, path: str, standard_hook: Callable[..., Any], told: _Told) -> None:
    """Print what Python prints of an uncaught error, without our frames; a device error's diagnosis before it."""
    diagnosed = _explain(error, told)
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


def _in_thread(hook: Callable[[Any], Any], full: bool, told: _Told) -> Callable[[Any], None]:
    """Return the threading.excepthook that explains an error in a thread first; the process goes on."""

    def explain_first(args: Any) -> None:
        error = args.exc_value
        if error is not None:
            _explain(error, told)
            _forget_ours(error, full)
            args = threading.ExceptHookArgs((args.exc_type, error, exceptions.traceback(error), args.thread))
        hook(args)

    return explain_first


def _explain(error: BaseException, told: _Told) -> bool:
    """Print the diagnosis of a device error, and tell whether it is one."""
    diagnosis = _diagnosis(error) if isinstance(error, Exception | BaseExceptionGroup) else None
    if diagnosis is not None:
        from samedevice.doctor.report import as_text, terminal_width

        _write(f"\n{as_text(diagnosis, width=terminal_width())}\n")
        told.tell(diagnosis)
    return diagnosis is not None


def _write(text: str) -> None:
    """Write to stderr, if anybody reads it: a script must not fail for it."""
    with contextlib.suppress(Exception):  # of a stderr of the script's own, too
        if sys.stderr is not None:
            sys.stderr.write(text)
            sys.stderr.flush()


def _forget_ours(error: BaseException, full: bool) -> None:
    for raised in exceptions.chain(error):
        trace = without_our_frames(exceptions.traceback(raised), outer_only=full)
        BaseException.with_traceback(raised, trace)  # a frozen class may not be set


def _diagnosis(error: BaseException) -> "Diagnosis | None":
    try:
        from samedevice.doctor import explain

        diagnosis = explain(error)
        str(diagnosis)
        return diagnosis if diagnosis.message else None
    except Exception:  # a fault of ours must not hide the program's
        return None


def _folded(error: BaseException, path: str) -> str:
    """Return the traceback as Python prints it, with one line for neighbouring frames of libraries."""
    from samedevice.introspect.libraries import is_library

    class Folded(traceback.StackSummary):
        def of_the_program(self) -> list[traceback.FrameSummary]:
            """Return the frames without those by which Python itself begins a module."""
            return list(itertools.dropwhile(lambda frame: frame.filename == "<frozen runpy>", self))

        def format(self, **options: Any) -> list[str]:
            lines = []
            for folded, frames in itertools.groupby(
                self.of_the_program(), lambda frame: frame.filename != path and is_library(frame.filename)
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
