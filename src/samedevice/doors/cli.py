"""The command line: `samedevice run` runs a script and explains its error, `samedevice explain` explains a pasted one.

Misuse is one sentence on stderr and exit code 2. torch is imported by the script that runs, never here.
"""

import argparse
import errno
import json
import os
import re
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from samedevice.doors import program
from samedevice.doors.program import Misuse
from samedevice.doors.run import run
from samedevice.doors.stderr import say
from samedevice.doors.which_gpus import MOST, allowed
from samedevice.gpu_choice import CHOICE

if TYPE_CHECKING:
    from samedevice.doctor import Diagnosis

_USAGE_OF_RUN = """\
samedevice run [--gpus N | --gpus real] [--rng cpu] [--full] [--summary]
                      [--json FILE] [--output-format github]
                      (SCRIPT | -m MODULE | -) [ARGS ...]"""
_HELP = f"""\
usage: {_USAGE_OF_RUN}
       samedevice explain [--more | --json | --output-format github] [--no-source] [FILE | ID | TEXT]
       samedevice --version

  run      run a script, or a module (-m), on simulated GPUs or on real ones
  explain  say what a PyTorch device error means, and what to change

`samedevice run --help` and `samedevice explain --help` say more.
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
        if command == "explain":
            return _explain(rest)
        if command in ("-h", "--help"):
            _print(_HELP)
            return 0
        if command == "--version":
            from importlib.metadata import version

            _print(f"samedevice {version('samedevice')}\n")
            return 0
        what = f"not {command!r}" if command else "and one of them has to be named"
        raise Misuse(f"there are `samedevice run` and `samedevice explain`, {what}: `samedevice --help` says more.")
    except Misuse as misuse:
        say(str(misuse))
        return 2


class _Parser(argparse.ArgumentParser):
    """A parser that complains in one sentence."""

    def error(self, message: str) -> NoReturn:
        raise Misuse(f"{message}. `{self.prog} --help` says more.")


def _run(arguments: Sequence[str]) -> int:
    parser = _Parser(
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
        type=_gpus,
        metavar="N",
        help=f"how many GPUs are simulated, 1 to {MOST}, or real: none is (default: 1; under torchrun one for each "
        f"process; real if {CHOICE}=real is set)",
    )
    parser.add_argument(
        "--rng",
        choices=["cuda", "cpu"],
        help="cpu: simulated GPUs draw the CPU's random numbers, to compare a run with the CPU's digit by digit",
    )
    parser.add_argument("--full", action="store_true", help="show all of a traceback, libraries' frames included")
    parser.add_argument("--summary", action="store_true", help="at the end, print what moved between devices")
    parser.add_argument("--json", metavar="FILE", help="write what is known of a device error to FILE, for machines")
    parser.add_argument("--output-format", **_FORMATS, help=f"github: also print {_ANNOTATIONS}")
    options, module, rest = _split(arguments)
    chosen = parser.parse_args(options)
    if not any(rest[:1]):
        example = "-m package.train" if module else "train.py"
        raise Misuse(f"name the {'module' if module else 'script'}: samedevice run {example}")
    gpus = allowed(chosen.gpus)
    for option in ("rng", "summary") if gpus == "real" else ():
        if getattr(chosen, option):
            raise Misuse(f"--{option} is for simulated GPUs only, and this run is on real ones: leave it out.")
    return run(
        (program.module if module else program.named)(rest[0]),
        rest[1:],
        gpus=gpus,
        rng=chosen.rng or "cuda",
        full=chosen.full,
        summary=chosen.summary,
        json_file=chosen.json,
        annotate=chosen.output_format == "github",
    )


def _split(arguments: Sequence[str]) -> tuple[Sequence[str], bool, Sequence[str]]:
    """Return our options, whether -m ended them, and the rest from the program on.

    By hand: argparse would look for options behind the program too.
    """
    index = 0
    while index < len(arguments) and arguments[index].startswith("-") and arguments[index] != "-":
        option = arguments[index]
        if option == "--":
            return arguments[:index], False, arguments[index + 1 :]
        if option.startswith("-m"):
            named = [option[2:]] if option[2:] else []
            return arguments[:index], True, [*named, *arguments[index + 1 :]]
        index += 2 if option in ("--gpus", "--rng", "--json", "--output-format") else 1
    return arguments[:index], False, arguments[index:]


def _gpus(text: str) -> int | Literal["real"]:
    if text == "real":
        return "real"
    if text.isdecimal() and len(text) < 9 and 1 <= int(text) <= MOST:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is neither a number from 1 to {MOST} nor real")


def _explain(arguments: Sequence[str]) -> int:
    parser = _Parser(
        prog="samedevice explain",
        usage="samedevice explain [--more | --json | --output-format github] [--no-source] [FILE | ID | TEXT]",
        description="Say what a PyTorch device error means, its likely cause and the line to change. "
        "TEXT is the error itself, in quotes. Without it and without FILE it reads what is piped or pasted in. "
        "Nothing of it is executed, and torch is not needed. "
        "A Python file that the traceback names is read too, if it lies below this folder.",
        epilog="Exit code: 0 if it is a device error that we know, 1 if it is not, 2 on misuse.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "what", nargs="?", metavar="FILE | ID | TEXT", help="a log or a traceback; an id such as SD001; or the error"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--more", action="store_true", help="also why it happened, and how to fix the other causes")
    form.add_argument("--json", action="store_true", help="for machines, in the form of diagnosis.schema.json")
    form.add_argument("--output-format", **_FORMATS, help=f"github: {_ANNOTATIONS}")
    parser.add_argument("--no-source", action="store_true", help="open no file that the traceback names")
    chosen = parser.parse_args(arguments)
    try:
        heading, diagnosis = _diagnosis(chosen.what, with_source=not chosen.no_source)
    except KeyboardInterrupt:  # while it was being pasted
        return 130
    if chosen.json:
        from samedevice.doctor.diagnosis_json import as_data

        _print(json.dumps(as_data(diagnosis), indent=2) + "\n")
    elif chosen.output_format == "github":
        from samedevice.doctor.annotations import as_annotations

        _print(as_annotations(diagnosis))
    else:
        from samedevice.doctor.report import as_text, terminal_width

        _print(heading + as_text(diagnosis, whole=chosen.more, width=terminal_width()))
    return 0 if diagnosis.message else 1


def _print(text: str) -> None:
    if sys.stdout is None:
        raise Misuse("there is no standard output to write the answer to.")
    try:
        if hasattr(sys.stdout, "reconfigure"):  # a console may lack a character that a paste, or the catalog, has
            sys.stdout.reconfigure(errors="backslashreplace")
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # What is left unwritten would fail again: https://docs.python.org/3/library/signal.html#note-on-sigpipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # `| head` has read enough
            raise Misuse(f"the answer cannot be written: {error.strerror}.") from None


def _diagnosis(what: str | None, *, with_source: bool) -> tuple[str, "Diagnosis"]:
    """Return the diagnosis of what is asked about, and a heading before it, which only an id has."""
    from samedevice.doctor.explanation import explain_log

    folder = Path.cwd() if with_source else None
    if what is None or what == "-":
        return "", explain_log(_pasted(), folder)
    path, is_id = Path(what), _ID.fullmatch(what)
    try:
        if path.is_dir():
            if is_id:
                return _of_id(what.upper())
            raise Misuse(f"{_short(what)} is a directory: name a file in it.")
        text = path.read_bytes()
    except OSError as error:
        if error.errno not in _NO_SUCH_FILE:
            raise Misuse(f"{_short(what)} cannot be read: {error.strerror}.") from None
        if is_id:
            return _of_id(what.upper())
        diagnosis = explain_log(os.fsencode(what), folder)
        if diagnosis.message or _is_prose(what):
            return "", diagnosis
        raise Misuse(
            f"there is no file {_short(what)}, and no error has such an id (they are like SD001). "
            "To explain a text, put it into quotes, or pipe or paste it into `samedevice explain`."
        ) from None
    if is_id:
        say(f"{what} is a file here, so the file is read; remove or rename it to read about the error of that id.")
    return "", explain_log(text, folder)


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
        return sys.stdin.buffer.read()
    except OSError as error:
        raise Misuse(f"standard input cannot be read: {error.strerror}.") from None


def _of_id(id_: str) -> tuple[str, "Diagnosis"]:
    """Explain the newest wording of a message, which stands for all of them."""
    from samedevice.catalog import load
    from samedevice.doctor import explain

    message = load().messages.get(id_)
    if message is None:
        first, *_, last = load().messages
        raise Misuse(f"no error has the id {id_}: they go from {first} to {last}.")
    text = message.texts[0]["text"]
    # There is no more to paste, and nothing to be surer of.
    return f"{id_}: {message.title}\n\n{textwrap.indent(text, '    ')}\n\n", replace(explain(text), ask="")


def _short(name: str) -> str:
    """Write a name as it was given, on one line, harmless to a terminal."""
    return ascii(name if len(name) <= 60 else f"{name[:57]}...")
