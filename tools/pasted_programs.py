"""Ask the doctor about pastes of programs in the style of real code, and write results/pastes.json.

The programs, and what is right about each, are those of real_programs. Here the doctor gets only the text of the
traceback, as PyTorch's CUDA build prints it. Where it names one tensor, the tool makes the change and runs the program.
If it fails again, the live doctor, which sees the tensors, says whether another tensor fails now.
"""

import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import results
from real_programs import FOLDER, applied, is_of, labels, outcome

if TYPE_CHECKING:
    from samedevice.doctor.diagnosis import Culprit, Diagnosis

_PROJECT = "/home/me/project"  # where a reader's program is
# What is right of a paste too, because the line that failed has another name for the culprit.
ALSO_RIGHT = {
    "blocks_in_a_list": ("block", "the layer whose weight is the culprit, by the name that the loop gives it"),
    "ode_start_value": ("y", "the start value itself, by its name in the function that fails"),
}
# Python code of PyTorch that runs for a simulated tensor, and for no real one.
_STEPS = ("torch/_ops.py", "torch/overrides.py", "torch/utils/_device.py")
_METHODS = ("__torch_function__", "__torch_dispatch__")


@dataclass(frozen=True)
class Answer:
    """What the doctor says of a program's paste.

    Attributes:
        culprits: what it names.
        is_right: whether the culprit, or an object that holds it, is among these.
    """

    culprits: "tuple[Culprit, ...]"
    is_right: bool

    @property
    def kind(self) -> Literal["one", "few", "none"]:
        """How much it names."""
        return "none" if not self.culprits else "one" if len(self.culprits) == 1 else "few"


def main() -> int:
    warnings.simplefilter("ignore")  # of the programs' own
    programs = sorted(FOLDER.glob("*.py"))
    answers, after = [], []
    with tempfile.TemporaryDirectory() as folder:
        for number, program in enumerate(programs, 1):
            answers.append(answer(program))
            if answers[-1].kind == "one":
                after.append(with_the_change(program, answers[-1], Path(folder)))
            if sys.stderr.isatty():
                print(f"\r{number} of {len(programs)} programs", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    counted = figures(answers)
    results.write("pastes", counted | {"one": counted["one"] | of_the_changes(after)})
    return 0


def figures(answers: Iterable[Answer]) -> dict[str, Any]:
    """Count the answers that name one tensor, two to four, and none, and those that are right."""
    by_kind: dict[str, list[bool]] = {"one": [], "few": [], "none": []}
    for said in answers:
        by_kind[said.kind].append(said.is_right)
    one, few = ({"named": len(by_kind[kind]), "right": sum(by_kind[kind])} for kind in ("one", "few"))
    none = len(by_kind["none"])
    return {"programs": one["named"] + few["named"] + none, "one": one, "few": few, "none": none}


def answer(program: Path) -> Answer:
    """Ask the doctor about the paste of a program."""
    diagnosis = outcome(program, _of_the_paste)
    culprits = diagnosis.culprits if diagnosis is not None else ()
    right = labels(program)[0] | set(ALSO_RIGHT.get(program.stem, ())[:1])
    names = ["".join(culprit.expression.split()) for culprit in culprits]
    # `self` holds too much to be an answer.
    holders = [name for name in names if name != "self"]
    is_right = any(is_of(name, right) for name in names) or any(is_of(label, holders) for label in right)
    return Answer(culprits, is_right)


def with_the_change(program: Path, said: Answer, folder: Path) -> Literal["runs", "fails next", "fails still"]:
    """Run a copy of a program in `folder` that has the change of the one culprit.

    It fails next if the one was right, and the live doctor names another tensor in what is raised then.
    """
    before = outcome(program)
    changed = folder / program.name
    changed.write_text(applied(program.read_text(encoding="utf-8"), said.culprits[0].edits), encoding="utf-8")
    after = outcome(changed)
    if after is None:
        return "runs"
    return "fails next" if said.is_right and _is_of_another(after, before) else "fails still"


def _is_of_another(after: "Diagnosis", before: "Diagnosis | None") -> bool:
    """Tell whether the live doctor names another tensor than before, which is no part of the earlier one either."""
    if before is None or not (after.culprits and before.culprits):
        return False
    now, earlier = after.culprits[0].expression, before.culprits[0].expression
    return not is_of(now, [earlier]) and not is_of(earlier, [now])


def of_the_changes(outcomes: Iterable[str]) -> dict[str, int]:
    """Count the programs that run with the one change, and those in which another tensor fails next."""
    counted = Counter(outcomes)
    return {"runs": counted["runs"], "next": counted["fails next"]}


def _of_the_paste(error: Exception) -> "Diagnosis":
    from samedevice import explain

    return explain(pasted(error))


def pasted(error: Exception) -> str:
    """Print an error as PyTorch's CUDA build does: without the frames of the simulation, or of the tools."""
    printed = traceback.TracebackException.from_exception(error)
    chain = [printed]
    for each in chain:
        each.stack = traceback.StackSummary.from_list([frame for frame in each.stack if not _is_ours(frame)])
        chain += [other for other in (each.__cause__, each.__context__) if other is not None]
    return "".join(printed.format()).replace(str(FOLDER), _PROJECT)


def _is_ours(frame: traceback.FrameSummary) -> bool:
    from samedevice.introspect.libraries import is_ours

    is_a_tool = Path(frame.filename).parent == Path(__file__).parent
    is_a_step = frame.name in _METHODS or frame.filename.replace("\\", "/").endswith(_STEPS)
    return is_ours(frame.filename) or is_a_tool or is_a_step


if __name__ == "__main__":
    sys.exit(main())
