"""The command line: `samedevice run` runs a script and explains its error, `samedevice explain` explains a pasted one.

Misuse is one sentence on stderr and exit code 2. torch is imported by the script that runs, never here.
"""

import errno
import json
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from samedevice.doors import program
from samedevice.doors.arguments import GPU_TYPE, Parser, gpu_count, gpu_type, split
from samedevice.doors.cli_fix import USAGE_OF_FIX, fix
from samedevice.doors.ends_of_logs import end_of
from samedevice.doors.program import Misuse
from samedevice.doors.run import run
from samedevice.doors.stderr import say
from samedevice.doors.stdout import write_out
from samedevice.doors.which_gpus import MOST, allowed
from samedevice.gpu_choice import CHOICE

if TYPE_CHECKING:
    from samedevice.catalog import Cause, Message
    from samedevice.doctor import Diagnosis

_USAGE_OF_RUN = """\
samedevice run [--gpus N | --gpus real] [--gpu-type NAME] [--rng cpu]
                      [--full] [--summary] [--json FILE] [--output-format github]
                      (SCRIPT | -m MODULE | -) [ARGS ...]"""
_HELP = f"""\
usage: {_USAGE_OF_RUN}
       {USAGE_OF_FIX}
       samedevice explain [--more | --json | --output-format github] [--no-source] [FILE | ID | TEXT]
       samedevice --version

  run      run a script, or a module (-m), on simulated GPUs or on real ones, and explain its device error
  fix      fix the device errors of a script or of tests, one after another, and print the changes as a diff
  explain  say what a PyTorch device error means, and what to change

`samedevice run --help`, `samedevice fix --help` and `samedevice explain --help` say more.
"""
_FORMATS: dict[str, Any] = {"choices": ["text", "github"], "default": "text"}
_ANNOTATIONS = "annotations of GitHub Actions, which a pull request shows on the line"
_ID = re.compile("SD[0-9]{3}", re.IGNORECASE)
# A whole message, given as a name, is too long to be one, or holds what a name may not (on Windows).
_NO_SUCH_FILE = {errno.ENOENT, errno.ENAMETOOLONG, errno.EINVAL}


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says, and return the exit code.

    Args:
        arguments: what follows `samedevice`; None for this process's own.

    Raises:
        SystemExit: --help was asked for, or the script that ran raised it.
        BaseException: whatever else the script raised, reported already.

    Example:
        >>> main(["explain", "SD999"])
        2
    """
    command, *rest = (sys.argv[1:] if arguments is None else arguments) or [""]
    try:
        if command == "run":
            return _run(rest)
        if command == "fix":
            return fix(rest)
        if command == "explain":
            return _explain(rest)
        if command in ("-h", "--help"):
            write_out(_HELP)
            return 0
        if command == "--version":
            from importlib.metadata import version

            write_out(f"samedevice {version('samedevice')}\n")
            return 0
        commands = "`samedevice run`, `samedevice fix` and `samedevice explain`"
        what = f"not {command!r}" if command else "and one of them has to be named"
        raise Misuse(f"there are {commands}, {what}: `samedevice --help` says more.")
    except Misuse as misuse:
        say(str(misuse))
        return 2


def _run(arguments: Sequence[str]) -> int:
    parser = Parser(
        prog="samedevice run",
        usage=_USAGE_OF_RUN,
        description="Run a program, unchanged, on simulated GPUs: real values, PyTorch's own rules and messages. "
        "With --gpus real it runs on this machine's GPUs, and nothing is done until an error happens. "
        "As for python, the program is a script, a folder or an archive with a __main__.py, a module behind -m, or "
        "what standard input holds, for -. What follows is the program's. "
        "A device error is explained before its traceback.",
        epilog="The exit code is the program's; 2 if it cannot be run.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--gpus",
        type=gpu_count,
        metavar="N",
        help=f"how many GPUs to simulate, 1 to {MOST}, or real for this machine's own (default: 1; under torchrun one "
        f"for each process; real if {CHOICE}=real is set)",
    )
    parser.add_argument("--gpu-type", type=gpu_type, metavar="NAME", help=GPU_TYPE)
    parser.add_argument(
        "--rng",
        choices=["cuda", "cpu"],
        help="cpu: simulated GPUs draw the CPU's random numbers, to compare a run with the CPU's digit by digit",
    )
    parser.add_argument("--full", action="store_true", help="show all of a traceback, libraries' frames included")
    parser.add_argument("--summary", action="store_true", help="at the end, print what moved between devices")
    parser.add_argument("--json", metavar="FILE", help="write what is known of a device error to FILE, for machines")
    parser.add_argument("--output-format", **_FORMATS, help=f"github: also print {_ANNOTATIONS}")
    options, module, rest = split(arguments)
    chosen = parser.parse_args(options)
    if not any(rest[:1]):
        example = "-m package.train" if module else "train.py"
        raise Misuse(f"name the {'module' if module else 'script'}: samedevice run {example}")
    gpus = allowed(chosen.gpus)
    for option in ("rng", "summary", "gpu-type") if gpus == "real" else ():
        if getattr(chosen, option.replace("-", "_")):
            raise Misuse(f"--{option} is for simulated GPUs only, and this run is on real ones: leave it out.")
    return run(
        (program.module if module else program.named)(rest[0]),
        rest[1:],
        gpus=gpus,
        gpu_type=chosen.gpu_type,
        rng=chosen.rng or "cuda",
        full=chosen.full,
        summary=chosen.summary,
        json_file=chosen.json,
        annotate=chosen.output_format == "github",
    )


def _explain(arguments: Sequence[str]) -> int:
    parser = Parser(
        prog="samedevice explain",
        usage="samedevice explain [--more | --json | --output-format github] [--no-source] [FILE | ID | TEXT]",
        description="Say what a PyTorch device error means, its likely cause and the line to change. "
        "TEXT is the error itself, in quotes. Without it and without FILE it reads what is piped or pasted in. "
        "Nothing of it is executed, and torch is not needed. "
        "A Python file that the traceback names is read too, if it lies below this folder. "
        "Of a longer log the last 20 MB are read.",
        epilog="Exit code: 0 if it is a device error that we know, 1 if it is not, 2 on misuse.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "what",
        nargs="?",
        metavar="FILE | ID | TEXT",
        help="a log or a traceback; an id, to read its page (SD001, or input_not_moved for a cause); or the error",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--more", action="store_true", help="also why it happened, and how to fix the other causes")
    form.add_argument("--json", action="store_true", help="for machines, in the form of diagnosis.schema.json")
    form.add_argument("--output-format", **_FORMATS, help=f"github: {_ANNOTATIONS}")
    parser.add_argument("--no-source", action="store_true", help="open no file that the traceback names")
    chosen = parser.parse_args(arguments)
    try:
        asked = _asked_about(chosen.what, with_source=not chosen.no_source)
    except KeyboardInterrupt:  # while it was being pasted
        return 130
    if chosen.json or chosen.output_format == "github":
        return _for_machines(asked, is_json=chosen.json)
    from samedevice.doctor import Diagnosis
    from samedevice.doctor.pages import page
    from samedevice.doctor.report import as_text, terminal_width

    if not isinstance(asked, Diagnosis):
        write_out(page(asked, terminal_width()))
        return 0
    write_out(as_text(asked, whole=chosen.more, width=terminal_width()))
    return 0 if asked.message else 1


def _for_machines(asked: "Diagnosis | Message | Cause", *, is_json: bool) -> int:
    from samedevice.catalog import Cause, Message
    from samedevice.doctor import explain
    from samedevice.doctor.annotations import as_annotations
    from samedevice.doctor.diagnosis_json import as_data

    if isinstance(asked, Cause):
        raise Misuse(f"a cause is no error, and has only a page for people: samedevice explain {asked.id}")
    # The newest wording of a message stands for all of them. There is no more to paste, and nothing to be surer of.
    diagnosis = replace(explain(asked.texts[0]["text"]), ask="") if isinstance(asked, Message) else asked
    write_out(json.dumps(as_data(diagnosis), indent=2) + "\n" if is_json else as_annotations(diagnosis))
    return 0 if diagnosis.message else 1


def _asked_about(what: str | None, *, with_source: bool) -> "Diagnosis | Message | Cause":
    """Return the diagnosis of an error, or what has the id that is asked about."""
    from samedevice.catalog import load
    from samedevice.doctor.explanation import explain_log

    folder = Path.cwd() if with_source else None
    if what is None or what == "-":
        return explain_log(_pasted(), folder)
    path, is_id = Path(what), _ID.fullmatch(what) or what in load().causes
    try:
        if path.is_dir():
            if is_id:
                return _of_id(what)
            raise Misuse(f"{_short(what)} is a directory: name a file in it.")
        with path.open("rb") as file:
            text = _end_of(file)
    except OSError as error:
        if error.errno not in _NO_SUCH_FILE:
            raise Misuse(f"{_short(what)} cannot be read: {error.strerror}.") from None
        if is_id:
            return _of_id(what)
        diagnosis = explain_log(os.fsencode(what), folder)
        if diagnosis.message or _is_prose(what):
            return diagnosis
        raise Misuse(
            f"there is no file {_short(what)}, and no error has such an id (they are like SD001). "
            "To explain a text, put it into quotes, or pipe or paste it into `samedevice explain`."
        ) from None
    if is_id:
        say(f"{what} is a file here, so the file is read; remove or rename it to read about the error of that id.")
    return explain_log(text, folder)


def _is_prose(text: str) -> bool:
    """Tell whether a name that no file has reads as somebody's text, and not as the mistyped name of a file."""
    return "\n" in text or (len(text.split()) > 2 and not re.search(r"\.\w{1,5}$", text))


def _pasted() -> bytes:
    if sys.stdin is None:
        raise Misuse("there is no standard input to read: name a file.")
    if sys.stdin.isatty():
        end = "Ctrl+Z and Enter" if os.name == "nt" else "Ctrl+D"
        say(f"paste the error, press Enter, then {end}.")
    try:
        return _end_of(sys.stdin.buffer)
    except OSError as error:
        raise Misuse(f"standard input cannot be read: {error.strerror}.") from None


def _end_of(stream: BinaryIO) -> bytes:
    from samedevice.doctor.text.read import MOST

    text, is_cut = end_of(stream, MOST)
    if is_cut:
        say(f"only the last {MOST // 10**6} MB were read: an error stands at the end.")
    return text


def _of_id(id_: str) -> "Message | Cause":
    from samedevice.catalog import load

    catalog = load()
    found = catalog.causes.get(id_) or catalog.messages.get(id_.upper())
    if found is None:
        first, *_, last = catalog.messages
        raise Misuse(f"no error has the id {id_}: they go from {first} to {last}.")
    return found


def _short(name: str) -> str:
    """Write a name as it was given, on one line, harmless to a terminal."""
    return ascii(name if len(name) <= 60 else f"{name[:57]}...")
