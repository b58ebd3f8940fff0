"""What a page shows of commands: the files that they need, and what each of them prints."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

_SCRIPTS = {"pytest": ("-m", "pytest", "-p", "no:cacheprovider"), "samedevice": ("-m", "samedevice")}
_WAITING = re.compile("samedevice: this run has taken .*\n")  # `fix` says it on a slow machine


def files(page: str) -> dict[str, str]:
    """Return the text of each file that a page shows, by its name."""
    return dict(re.findall(r'```\w+ title="([\w.]+)"\n(.*?)```', page, re.DOTALL))


def sessions(page: str) -> list[tuple[str, str]]:
    """Return each command of a page with what is shown below it."""
    return re.findall(r"```console\n\$ (.*?)\n(.*?)```", page, re.DOTALL)


def run(command: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Run a command of a page in a folder; its output and its errors are one text."""
    program, *arguments = shlex.split(command)
    # An outer pytest and its xdist worker leave variables that an inner one would take for its own.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, *_SCRIPTS[program], *arguments],
        cwd=folder,
        env=environment | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )


def is_as_shown(shown: str, printed: str) -> bool:
    """Tell whether a command printed what is shown: `...` stands for any lines, and in a line for any of it."""
    lines = shown.rstrip("\n").split("\n")
    pattern = ["(.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + "\n" for line in lines]
    return re.fullmatch("".join(pattern), _WAITING.sub("", printed)) is not None
