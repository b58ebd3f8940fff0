"""What is counted in the sources when the site is built: entries of the catalog, cases of tests, versions in CI.

`<!-- counted: causes raised -->` is where a count comes. The build imports no torch: tests are read, not imported.
"""

import re
from collections.abc import Callable
from pathlib import Path

from mkdocs.exceptions import PluginError

from samedevice.catalog import load

_PLACE = re.compile(r"<!-- counted: ([\w ]+) -->")


def with_counts(markdown: str, root: Path) -> str:
    """`markdown` with the counts in their places; `root` is the folder of tests/ and constraints.txt.

    Raises:
        PluginError: nothing is counted under such a name, or there is nothing of it.
    """
    return _PLACE.sub(lambda place: _counted(place[1], root), markdown)


def _counted(name: str, root: Path) -> str:
    counted = _COUNTS[name](root) if name in _COUNTS else 0
    if not counted:
        raise PluginError(f"A page wants the count of {name!r}, and there is none.")
    return f"{counted:,}" if isinstance(counted, int) else counted


def _texts(_: Path) -> int:
    """Texts of PyTorch's and whole pastes, each of which has to be read as its message."""
    return sum(len(message.texts) + len(message.examples) for message in load().messages.values())


def _cases(files: str, pattern: str) -> Callable[[Path], int]:
    """How often `pattern` stands in the files of tests/."""
    return lambda root: sum(
        len(re.findall(pattern, path.read_text("utf-8"), re.M)) for path in root.glob(f"tests/{files}")
    )


def _known_misses(root: Path) -> int:
    """The recorded cases that the simulation is known to answer otherwise; `make test` fails where another one does."""
    return sum(
        len(path.read_text("utf-8").splitlines()) for path in root.glob("tests/conformance/*-known-misses.jsonl")
    )


def _tested_torch(root: Path) -> str:
    pin = re.search(r"^torch==([\d.]+)$", (root / "constraints.txt").read_text("utf-8"), re.M)
    return pin[1] if pin else ""


def _ci(root: Path) -> str:
    return (root / ".github/workflows/cpu.yml").read_text("utf-8")


def _other_torch(root: Path) -> str:
    """The further versions of torch for which the workflow cpu.yml has a job; 2.x in words."""
    named = sorted(set(re.findall(r"\{torch: ([\w.]+),", _ci(root))) - {_tested_torch(root)})
    return " and ".join("the newest that is admitted" if version == "2.x" else version for version in named)


def _pythons(root: Path) -> str:
    """The versions of Python for which it has one."""
    *most, last = sorted(set(re.findall(r'python(?:-version)?: "([\d.]+)"', _ci(root)))) or [""]
    return f"{', '.join(most)} and {last}" if most else last


_COUNTS: dict[str, Callable[[Path], int | str]] = {
    "messages": lambda _: len(load().messages),
    "texts": _texts,
    "causes": lambda _: len(load().causes),
    "causes raised": lambda _: sum(bool(cause.raises) for cause in load().causes.values()),
    "causes not raised": lambda _: sum(bool(cause.unraised) for cause in load().causes.values()),
    "claims": lambda _: len(load().claims),
    "claims with a cell": lambda _: sum(bool(claim.cell) for claim in load().claims.values()),
    "broken programs": _cases("doctor/broken_programs/*.py", r"^@broken\("),
    "programs mended": _cases("doctor/broken_programs/mendable.py", r'^    "[^"]+": """'),
    "other errors": _cases("doctor/not_device_errors.txt", r"^==== \w+$"),
    "known misses": _known_misses,
    "torch": _tested_torch,
    "other torch": _other_torch,
    "Python": _pythons,
}
