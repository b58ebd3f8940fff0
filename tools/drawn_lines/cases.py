"""Draw programs until enough of them fail for their culprit, and count what was dropped and what was named."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from drawn_lines.draw import drawn
from drawn_lines.judging import Judgement, judged, why_silent
from drawn_lines.pastes import Paste, pasted
from drawn_lines.program import Program
from drawn_lines.running import Failure, failure, is_of_devices


@dataclass(frozen=True)
class Case:
    """A program that fails for its culprit, and its paste."""

    number: int
    program: Program
    failed: Failure
    paste: Paste


@dataclass
class Figures:
    """What was counted in a run.

    Attributes:
        lines: the cases.
        dropped: the drawn programs that do not fail, fail for something else, or fail without their culprit too.
        one, few, none: the cases where one was named, two to four, and none.
        one_wrong: the cases where one was named, and another is the culprit.
        few_wrong: the cases where two to four were named, and the culprit is not among them.
        cut: the cases whose line was cut.
        without_change: the cases where the culprit was named, and no change was proposed for it.
        why_none: the cases where none was named, by reason: part of the line was cut off ("cut"), more than four
            tensors could be it ("more"), or another ("other").
        failures: the cases for which a property does not hold.
    """

    lines: int = 0
    dropped: int = 0
    one: int = 0
    few: int = 0
    none: int = 0
    one_wrong: int = 0
    few_wrong: int = 0
    cut: int = 0
    without_change: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    forms: Counter[str] = field(default_factory=Counter)
    why_none: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[Case, Judgement]] = field(default_factory=list)


def cases(count: int, seed: int, when_dropped: Callable[[str], None] = lambda reason: None) -> Iterator[Case]:
    """Yield cases; run it inside `simulate_cuda(devices=2)`."""
    number = found = 0
    while found < count:
        program = drawn(seed, number)
        failed = failure(program.text)
        if failed is None:
            when_dropped("raises nothing")
        elif not is_of_devices(failed.error):
            when_dropped(f"raises {failed.error!r}")
        elif (other := failure(program.healed)) is not None:
            when_dropped(f"raises without its culprit {other.error!r}")
        else:
            found += 1
            yield Case(number, program, failed, pasted(program, failed, seed, number))
        number += 1


def run(count: int, seed: int) -> Figures:
    """Judge the doctor's answers to drawn cases; run it inside `simulate_cuda(devices=2)`."""
    figures = Figures()

    def drop(reason: str) -> None:
        figures.dropped += 1

    for case in cases(count, seed, drop):
        judgement = judged(case.program, case.failed, case.paste)
        named = len(judgement.named)
        figures.lines += 1
        figures.one += named == 1
        figures.few += named > 1
        figures.none += named == 0
        figures.one_wrong += named == 1 and judgement.misses_culprit
        figures.few_wrong += named > 1 and judgement.misses_culprit
        figures.cut += case.paste.is_cut
        figures.without_change += judgement.lacks_change
        if not named:
            why = why_silent(case.program, case.paste)
            figures.why_none[why if why in ("cut", "more") else "other"] += 1
        if judgement.kind:
            figures.kinds[judgement.kind] += 1
            figures.forms[f"{case.program.form}, {judgement.kind}"] += 1
            figures.failures.append((case, judgement))
    return figures


def told(case: Case, judgement: Judgement | None = None) -> str:
    """Return a case, to be read: its program, its paste, and what was said of it."""
    program = case.program
    head = f"--- number {case.number}: {program.form} in {program.operation}; {case.paste.form}"
    lines = [head, program.text, case.paste.text.rstrip(), f"The culprit: {program.culprit}"]
    if judgement is not None:
        lines += [f"Named: {', '.join(judgement.named) or 'none'}", f"FAILS: {judgement.kind}: {judgement.reason}"]
    return "\n".join(lines) + "\n"
