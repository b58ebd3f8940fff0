"""What `samedevice run` runs: a script, a module (-m), a folder or an archive with a __main__.py, or standard input.

Each begins as Python itself begins it: the same sys.argv, sys.path[0], `__main__` and exit code. Modules, folders and
archives go through runpy, by the function that Python's own command line calls.
"""

import builtins
import importlib.machinery
import importlib.util
import io
import linecache
import os
import pkgutil
import runpy
import sys
import types
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# These start processes of their own, which would run without us.
_LAUNCHERS = {
    "torchrun": "torchrun -m samedevice run",
    "torch.distributed.run": "torchrun -m samedevice run",
    "torch.distributed.launch": "torchrun -m samedevice run",
    "accelerate": "accelerate launch -m samedevice run",
    "accelerate.commands.launch": "accelerate launch -m samedevice run",
    "python": "samedevice run",
    "python3": "samedevice run",
}
_STANDARD_INPUT = "<stdin>"


class Misuse(Exception):  # noqa: N818 - the program's user erred, not the program
    """What is wrong with what was asked for, in one sentence that says what to do."""


@dataclass
class Program:
    """A program that is ready to run.

    Attributes:
        name: what it finds in sys.argv[0]; a module finds the path of its file there, once runpy has found it.
        search: sys.path[0], or None to leave sys.path as it is.
        main: the module `__main__`, as it is before the first line.
        code: what to execute; None where runpy has to find it.
        module: the name of the module that runpy runs.
    """

    name: str
    search: str | None
    main: types.ModuleType
    code: types.CodeType | None = None
    module: str = "__main__"

    def become_main(self, arguments: Sequence[str]) -> None:
        """Do what Python does before the first line. Pickle and spawned processes look for it in sys.modules."""
        if "__annotations__" in vars(sys.modules["__main__"]):
            vars(self.main)["__annotations__"] = {}
        sys.modules["__main__"] = self.main
        sys.argv[:] = [self.name, *arguments]
        if self.search is not None:
            if sys.flags.safe_path:
                sys.path.insert(0, self.search)
            else:
                sys.path[0] = self.search

    def execute(self) -> None:
        """Run it; what it raises is passed on.

        Raises:
            Misuse: runpy does not find the module, or cannot run it.
        """
        if self.code is not None:
            exec(self.code, vars(self.main))
            return
        run: Any = runpy._run_module_as_main  # type: ignore[attr-defined]
        try:
            run(self.module, alter_argv=self.module != "__main__")
        except SystemExit as ended:
            # This is how runpy says what it cannot run.
            if not isinstance(ended.__context__, runpy._Error):  # type: ignore[attr-defined]
                raise
            reason = str(ended.__context__).rstrip(".")
            raise Misuse(f"{self._asked} cannot be run: {_printable(reason)}.") from None

    @property
    def _asked(self) -> str:
        return ascii(self.name if self.module == "__main__" else self.module)

    @property
    def file(self) -> str:
        """The path of its file, known once it runs; "" where it has none."""
        file = vars(self.main).get("__file__")
        return file if type(file) is str else ""


def named(name: str) -> Program:
    """Return the program of this name: "-" is standard input, anything else a path.

    Raises:
        Misuse: it cannot be read or compiled, or is a launcher of other processes.
    """
    _refuse_launcher(Path(name).name, ascii(name))
    if name == "-":
        return _of_standard_input()
    path = name if Path(name).is_absolute() else f"{_here()}{os.sep}{name}"  # as Python has it: "./" stays
    try:
        importer = pkgutil.get_importer(path)
        is_folder = Path(path).is_dir()
    except (OSError, ValueError):  # a name too long, or with a null byte
        importer, is_folder = None, False
    if is_folder or importer is not None:
        if importer is None or importer.find_spec("__main__") is None:
            kind = "a directory" if is_folder else "an archive"
            raise Misuse(f"{name!a} is {kind} without a __main__.py: name the script in it.")
        return Program(name, path, _main())
    main = _main(__file__=path, __cached__=None, __loader__=importlib.machinery.SourceFileLoader("__main__", path))
    search = None if sys.flags.safe_path else str(Path(path).resolve().parent)
    return Program(name, search, main, _compiled(_read(name, path), path, name))


def module(name: str) -> Program:
    """Return the program that `python -m NAME` would run, which is looked for when it is executed.

    Raises:
        Misuse: the name is that of a file, or of a launcher of other processes.
    """
    _refuse_launcher(name, ascii(name))
    if name.endswith(".py") and Path(name).is_file():
        raise Misuse(f"-m takes the name of a module: `samedevice run {_printable(name)}` runs the file.")
    # Until runpy has found the module, "-m" stands for it.
    return Program("-m", None if sys.flags.safe_path else _here(), _main(), module=name)


def _of_standard_input() -> Program:
    if sys.stdin is None:
        raise Misuse("there is no standard input to read the program from: name a script.")
    if sys.stdin.isatty():
        end = "Ctrl+Z and Enter" if os.name == "nt" else "Ctrl+D"
        sys.stderr.write(f"samedevice: type or paste the program, press Enter, then {end}.\n")
    try:
        source = sys.stdin.buffer.read()
    except OSError as error:
        raise Misuse(f"standard input cannot be read: {error.strerror}.") from None
    code = _compiled(source, _STANDARD_INPUT, "-")
    # The doctor reads the failing line here. Nothing looks for a file while there is no time of its last change.
    lines = io.StringIO(importlib.util.decode_source(source)).readlines()
    linecache.cache[_STANDARD_INPUT] = (len(source), None, lines, _STANDARD_INPUT)
    search = None if sys.flags.safe_path else ""
    return Program("-", search, _main(__file__=_STANDARD_INPUT, __cached__=None), code)


def _main(**known: Any) -> types.ModuleType:
    main = types.ModuleType("__main__")
    vars(main).update({"__builtins__": builtins, "__loader__": importlib.machinery.BuiltinImporter, **known})
    return main


def _here() -> str:
    try:
        return str(Path.cwd())
    except OSError as error:
        raise Misuse(f"the current directory cannot be read: {error.strerror}. Change to one that exists.") from None


def _refuse_launcher(name: str, shown: str) -> None:
    if name in _LAUNCHERS:
        raise Misuse(
            f"{shown} starts processes that would run without samedevice: use `{_LAUNCHERS[name]} SCRIPT ...` instead."
        )


def _read(name: str, path: str) -> bytes:
    try:
        with io.open_code(path) as file:
            return file.read()
    except FileNotFoundError:
        raise Misuse(f"there is no script {name!a}.") from None
    except OSError as error:
        raise Misuse(f"{name!a} cannot be read: {error.strerror}.") from None


def _compiled(source: bytes, path: str, name: str) -> types.CodeType:
    try:
        return compile(source, path, "exec", dont_inherit=True)
    except (MemoryError, RecursionError):
        raise Misuse(f"{name!a} is not valid Python: it is nested too deeply.") from None
    except (SyntaxError, ValueError) as error:  # ValueError: Python 3.11, of a null byte
        line = getattr(error, "lineno", None)
        what = f"{error.msg} (line {line})" if isinstance(error, SyntaxError) and line else str(error)
        raise Misuse(f"{name!a} is not valid Python: {what}.") from None


def _printable(text: str) -> str:
    """Return text with what is not printable ASCII escaped, as the name of a file or a module may hold anything."""
    return ascii(text)[1:-1].replace("\\'", "'")
