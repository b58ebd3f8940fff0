"""`samedevice fix`: run a program on simulated GPUs, fix its device errors one after another, and print one diff.

The decisions are made in doctor/fixing.py, the runs are in fix_runs.py, and what is said meanwhile in fix_said.py.
"""

import contextlib
import json
import signal
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from samedevice.doctor.fix_json import as_data
from samedevice.doctor.fixing import State, fixing
from samedevice.doors.fix_runs import Limits, Runs, Target
from samedevice.doors.fix_said import Said
from samedevice.doors.program import Misuse, module, named
from samedevice.doors.stderr import say
from samedevice.doors.stdout import write_out
from samedevice.doors.write_files import NotWritten, write_files


def fix(
    target: Target, *, gpus: int | None, gpu_type: str | None, limits: Limits, write: bool, json_file: str | None
) -> int:
    """Fix a program's device errors, print the changes as one unified diff, and say on stderr what is done.

    Args:
        target: what to run.
        gpus: how many simulated GPUs; None for as many as pytest's own options say.
        gpu_type: the model of each GPU; None for one that cannot be bought, or for what pytest's own options say.
        limits: where to end.
        write: whether to write the changed files.
        json_file: where to write the same for machines, as fix.schema.json has it; None for nowhere.

    Returns:
        0 if the program then ran to its end, 1 if something is left, 130 if it was interrupted.

    Raises:
        Misuse: the program cannot be run.
    """
    _check(target)
    folder = target.folder
    unlike = ""
    _let_signals_interrupt()
    with tempfile.TemporaryDirectory(prefix="samedevice-") as place:
        runs = Runs(target, gpus, gpu_type, limits, Path(place))
        said = Said(target, folder, limits, runs)
        try:
            said.before(gpus, gpu_type)
            state = fixing(runs.run, folder, limits.rounds, said.after)
        except KeyboardInterrupt:
            state, said.interrupted = said.state, True
        if state.has_succeeded and state.fixes and state.run and not target.is_pytest:
            with contextlib.suppress(KeyboardInterrupt):  # all is fixed, only not compared
                said.comparing()
                unlike = runs.unlike_on_the_cpu(state.run.output)
    diff = b"".join(file.diff(path.relative_to(folder).as_posix()) for path, file in state.files.items())
    # What may fail comes last: to print.
    written, fault = _written(state) if write else (False, "")
    if json_file is not None:
        _write_json(json_file, as_data(state, diff.decode("utf-8", "backslashreplace"), written, unlike))
    if diff:
        write_out(diff)
    said.at_the_end(state, unlike)
    if fault:
        say(fault)
    elif written:
        say(f"written: {', '.join(path.relative_to(folder).as_posix() for path in state.files)}.")
    elif diff and folder != Path.cwd().resolve():
        say(f"the names in the diff are those in {str(folder)!a}: apply it there.")
    if said.interrupted:
        return 130
    return 0 if state.has_succeeded and not fault else 1


def _let_signals_interrupt() -> None:
    """End by the signals that end a process as by Ctrl+C: the program that runs must not stay behind."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:  # under nohup, it is ignored
            signal.signal(number, signal.default_int_handler)


def _written(state: State) -> tuple[bool, str]:
    """Write the changed files; return whether there were any and they were written, and why not."""
    try:
        write_files({path: (file.disk, file.content) for path, file in state.files.items()})
    except NotWritten as fault:
        return False, str(fault)
    return bool(state.files), ""


def _write_json(json_file: str, data: dict[str, Any]) -> None:
    try:
        Path(json_file).write_text(json.dumps(data, indent=2) + "\n", "utf-8")
    except OSError as error:
        say(f"{json_file!a} cannot be written: {error.strerror}.")


def _check(target: Target) -> None:
    """Refuse what cannot be run, in the words of `samedevice run`."""
    if target.is_pytest:
        if find_spec("pytest") is None:
            raise Misuse("pytest is not installed here: pip install pytest.")
        return
    if target.name == "-":
        raise Misuse("a program from standard input has no file to fix: name a script.")
    if target.name.endswith(".ipynb"):
        raise Misuse(f"{target.name!a} is a notebook: `samedevice fix` takes a script, a module (-m) or --pytest.")
    (module if target.is_module else named)(target.name)
