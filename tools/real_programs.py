"""Ask the doctor about programs in the style of real code, and write to results/doctor.json how often it is right.

Each file of tests/doctor/real_programs begins with two comments: the culprits and the causes that are right, as they
may be named. Right is a fix whose edits, applied by this tool, make the program run.
"""

import importlib.util
import linecache
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import results

if TYPE_CHECKING:
    from samedevice.doctor.diagnosis import Diagnosis
    from samedevice.doctor.edits import Edit

FOLDER = Path(__file__).resolve().parents[1] / "tests/doctor/real_programs"


@dataclass(frozen=True)
class Judgement:
    """The first culprit, its cause and its fix, and whether each is right."""

    culprit: bool
    cause: bool
    fix: bool
    said: str


def main() -> int:
    warnings.simplefilter("ignore")  # of the programs' own
    programs = sorted(FOLDER.glob("*.py"))
    judgements = []
    with tempfile.TemporaryDirectory() as folder:
        for number, program in enumerate(programs, 1):
            judgements.append(judged(program, Path(folder)))
            if sys.stderr.isatty():
                print(f"\r{number} of {len(programs)} programs", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    right = {name: sum(getattr(judgement, name) for judgement in judgements) for name in ("culprit", "cause", "fix")}
    results.write("doctor", {"programs": len(programs), "right": right})
    return 0


def judged(program: Path, folder: Path) -> Judgement:
    """Run a program, ask the doctor about its error, and run a copy in `folder` that has the edits."""
    culprits, causes = labels(program)
    diagnosis = outcome(program)
    if diagnosis is None or not diagnosis.culprits:
        return Judgement(False, False, False, "no culprit")
    first = diagnosis.culprits[0]
    fixed = folder / program.name
    fixed.write_text(applied(program.read_text(encoding="utf-8"), first.edits), encoding="utf-8")
    return Judgement(
        is_of(first.expression, culprits),
        bool({first.case, first.cause} & causes),
        outcome(fixed) is None,
        f"{first}\n{first.edits}",
    )


def is_of(expression: str, culprits: Iterable[str]) -> bool:
    """Tell whether an expression is one of the culprits that are right, or a part of it."""
    written = "".join(expression.split())
    return any(f"{written}.".startswith((f"{culprit}.", f"{culprit}[")) for culprit in culprits)


def labels(program: Path) -> tuple[set[str], set[str]]:
    """Return the culprits and the causes that are right, without spaces."""
    culprits, causes = (
        {"".join(label.split()) for label in line.partition(":")[2].split(" | ")}
        for line in program.read_text(encoding="utf-8").splitlines()[:2]
    )
    return culprits, causes


def outcome(program: Path, say: "Callable[[Exception], Diagnosis] | None" = None) -> "Diagnosis | None":
    """Return what is said of a program's error on two simulated GPUs, by `explain` if not by `say`; None if it runs."""
    import torch  # here, as tests of the functions above need not wait for it

    from samedevice import explain, simulate_cuda

    linecache.clearcache()
    spec = importlib.util.spec_from_file_location(program.stem, program)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    torch.manual_seed(0)
    with simulate_cuda(devices=2):
        try:
            spec.loader.exec_module(module)
            module.main()
        except Exception as error:
            return (say or explain)(error)
    return None


def applied(text: str, edits: "Iterable[Edit]") -> str:
    """Return a file's text with edits in it."""
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda edit: (-edit.line, edit.action == "before")):
        there = lines[edit.line - 1]
        indent = there[: len(there) - len(there.lstrip())]
        new = [indent + line if line.strip() else line for line in edit.text.split("\n")]
        lines[edit.line - 1 : edit.line if edit.action == "replace" else edit.line - 1] = new
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
