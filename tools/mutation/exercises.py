"""Each exercise's check weakened in every way (weakening.py): a test that names an exercise of its lesson must be red.

For what all exercises share, it may be any test of theirs. While one works on a lesson:
`PYTHONPATH=tools python -m mutation.exercises lesson_05`.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mutation.trial import Weakened, survivors
from mutation.weakening import guards_in, mutants

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "src" / "lessons" / "exercises"
TESTS = [ROOT / "tests" / "lessons" / f"test_{name}.py" for name in ("check", "wrong_answers", "exercises")]

# What refuses no wrong answer, and is there all the same: file and change, with the reason.
HARMLESS = {
    ("lesson_13", "each + shuffled(each * 2, 6) -> shuffled(each * 2, 6)"): "the hint says which model ran first",
}


def run(only: str = "*") -> tuple[int, list[str]]:
    """Weaken every check in every way; return the number of ways, and a line for each that no test noticed.

    Args:
        only: the names of the files to weaken, as a pattern.
    """
    from samedevice import simulate_cuda  # here, as it imports torch

    guards: dict[str, int] = {}
    for path in FOLDER.glob("*.py"):
        guards |= guards_in(path.read_text("utf-8"))
    weakened = []
    for path in sorted(FOLDER.glob(f"{only}.py")):
        module = "lessons.exercises" if path.stem == "__init__" else f"lessons.exercises.{path.stem}"
        tests = _tests_of(path.stem)
        weakened += [Weakened(module, mutant, tests) for mutant in mutants(path.read_text("utf-8"), guards)]
    with simulate_cuda(devices=2):  # what its first start loads, the forks find loaded
        pass
    survived = [(one.module.split(".")[-1], one.mutant.change, one.mutant.line) for one in survivors(weakened, TESTS)]
    lines = [f"{file}, line {line}: {change}" for file, change, line in survived if (file, change) not in HARMLESS]
    harmless = len(survived) - len(lines)
    if only == "*" and harmless != len(HARMLESS):
        lines.append("HARMLESS lists a change that was noticed, or that is not made")
    return len(weakened) - harmless, lines


def _tests_of(stem: str) -> Callable[[pytest.Item], bool]:
    """Which tests have to notice what is wrong in a file: those of its lesson's exercises, or all."""
    if not stem.startswith("lesson_"):
        return lambda item: True
    return lambda item: f"[{stem.removeprefix('lesson_')}-" in item.name


if __name__ == "__main__":
    number, lines = run(*sys.argv[1:])
    print("\n".join([f"{number - len(lines)} of {number} caught", *lines]))
    sys.exit(bool(lines))
