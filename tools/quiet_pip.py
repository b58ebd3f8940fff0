"""`pip install` with one line instead of hundreds: how many packages are there, and how long it takes.

What pip itself has said is shown where it fails. It is the pip of the Python that runs this.
"""

import re
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

# pip compiles every module, which takes half of the time. Without, each process would do so again wherever
# PYTHONDONTWRITEBYTECODE is set, as in many containers: `import torch` then takes twice as long, each time.
PIP = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
_FOUND = re.compile(r"\s*(?:Collecting|Processing|Obtaining|Requirement already satisfied:) ")
# How often a line is written that nobody can write over, as in the log of a CI.
_LOG = 30.0


def install(arguments: Sequence[str], what: str = "packages") -> int:
    """Run pip; WHAT are the packages, in a word or two. Returns its exit code."""
    start, said = time.monotonic(), list[str]()
    command = [*PIP, *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", errors="replace"
    ) as pip:
        assert pip.stdout
        reader = threading.Thread(target=lambda: said.extend(pip.stdout or ()), daemon=True)
        reader.start()
        expected, written = _expected(arguments), start
        while reader.is_alive():
            reader.join(timeout=1)
            now = time.monotonic()
            if sys.stdout.isatty() or now - written >= _LOG:
                written = now
                _show(f"  {what}: {_state(said, expected)}, {now - start:.0f} s", over=sys.stdout.isatty())
    if sys.stdout.isatty():
        _show("", over=True)
    if pip.returncode:
        print("".join(said), file=sys.stderr)
    else:
        print(f"  {what}: {_done(said)}, {time.monotonic() - start:.0f} s")
    return pip.returncode


def _expected(arguments: Sequence[str]) -> int:
    """How many packages the files name that pip reads; 0 where it finds out for itself."""
    text = " ".join(arguments)
    files = re.findall(r"(?:--requirement[= ]|-r )(\S+)", text) if "--no-deps" in text else []
    return sum(len(re.findall(r"^[\w.-]+==", Path(file).read_text("utf-8"), re.M)) for file in files)


def _state(said: Sequence[str], expected: int) -> str:
    found = sum(bool(_FOUND.match(line)) for line in list(said))
    if any(line.startswith("Installing collected packages") for line in list(said)):
        return f"{found} found, now unpacking"
    return f"{found} of {expected}" if expected else str(found)


def _done(said: Sequence[str]) -> str:
    installed = [line.split()[2:] for line in said if line.startswith("Successfully installed")]
    return f"{len(installed[0])} installed" if installed else "there already"


def _show(text: str, *, over: bool) -> None:
    """Write a line, OVER the one before it at a terminal."""
    print(f"\r{text:<79}" + ("\r" if not text else "") if over else text, end="" if over else "\n", flush=True)


if __name__ == "__main__":
    sys.exit(install(sys.argv[1:]))
