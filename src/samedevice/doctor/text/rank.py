"""Order the causes that a message can have: by what it says itself, then by what stands around it."""

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from samedevice.catalog import Cause, Clue, load
from samedevice.doctor.text.candidates import Candidate
from samedevice.doctor.text.read import Reading

_SHOWN = 5


@dataclass(frozen=True)
class LikelyCause:
    """A cause of the catalog (`title`, `why`, `before`, `after`, `confirm`, `lesson`), and why it is likely.

    `id` is that of the wider cause, where the cause is a case of one; then `case` is its own, else "".
    """

    cause: Cause
    because: tuple[str, ...]

    @property
    def id(self) -> str:
        return self.cause.within or self.cause.id

    @property
    def case(self) -> str:
        return self.cause.id if self.cause.within else ""

    @property
    def title(self) -> str:
        return self.cause.title

    @property
    def why(self) -> str:
        return self.cause.why

    @property
    def fix(self) -> str:
        """The fixed lines, or the commands to run; `cause.before` has the lines as they fail."""
        return "\n".join(self.cause.steps) or self.cause.after

    @property
    def lesson(self) -> str:
        return self.cause.lesson


def rank(reading: Reading, candidates: Sequence[Candidate] = ()) -> tuple[LikelyCause, ...]:
    """Return the causes that `reading.message` can have, the most likely first; at most five.

    A case of a wider cause is shown in its place if anything speaks for the case itself. It counts as both.
    """
    points: dict[str, float] = {}
    because: dict[str, list[tuple[float, str]]] = {}

    def count(cause: str, weight: float, reason: str) -> None:
        points[cause] += weight
        if reason and weight > 0:
            because[cause].append((weight, reason))

    between = reading.reads.get("between", "")
    for possible in reading.message.causes:
        pairs = load().causes[possible.id].between
        if pairs and between and between not in pairs:
            continue
        if holds(possible.when, reading.reads):
            points.setdefault(possible.id, 0.0)
            because.setdefault(possible.id, [])
            count(possible.id, possible.points, filled(possible.because, reading.reads) or "")
    texts = {
        "trace": reading.trace,
        "own": reading.own_trace,
        "line": reading.place.code if reading.place and not reading.place.in_library else "",
        "below": reading.below,
    }
    for clue, pattern, unless in _clues():
        concerned = [cause for cause in clue.causes if cause in points]
        if (
            concerned
            and (not clue.messages or reading.message.id in clue.messages)
            and _stands(pattern, unless, texts[clue.where])
        ):
            for cause in concerned:
                count(cause, clue.causes[cause], filled(clue.because, reading.reads) or "")
    for candidate in candidates:
        if candidate.cause in points:
            count(candidate.cause, candidate.points, candidate.because)
    causes = load().causes
    for case, own in points.items():
        if (wider := causes[case].within) and own > 0:
            points[case] += points.get(wider, 0.0)
            because[case] += because.get(wider, [])
    found: dict[str, LikelyCause] = {}
    for cause in sorted((cause for cause in points if points[cause] > 0), key=lambda cause: -points[cause]):
        strongest = sorted(because[cause], key=lambda weighted: -weighted[0])
        texts_of = dict.fromkeys(text for _, text in strongest)
        # A message's sentence may say more than another of it.
        said = (text for text in texts_of if not any(other != text and other.startswith(text) for other in texts_of))
        likely = LikelyCause(causes[cause], tuple(said))
        found.setdefault(likely.id, likely)
    return tuple(found.values())[:_SHOWN]


@functools.cache
def _clues() -> list[tuple[Clue, re.Pattern[str], re.Pattern[str] | None]]:
    return [
        (clue, re.compile(clue.pattern, re.ASCII), re.compile(clue.unless, re.ASCII) if clue.unless else None)
        for clue in load().clues
    ]


def _stands(pattern: re.Pattern[str], unless: re.Pattern[str] | None, text: str) -> bool:
    """Tell whether a clue's pattern is in a text; with `unless`, whether it is in a line that `unless` is not in."""
    if unless is None or not pattern.search(text):
        return pattern.search(text) is not None
    return any(pattern.search(f"\n{line}\n") and not unless.search(line) for line in text.split("\n"))


def holds(when: dict[str, str], reads: dict[str, str]) -> bool:
    """Tell whether what was read matches all conditions."""
    return all(re.fullmatch(want, reads.get(name, ""), re.ASCII) for name, want in when.items())


def filled(sentence: str, reads: dict[str, str]) -> str | None:
    """`sentence` with its {names} replaced by what was read, or None where one of them was not."""
    names = re.findall(r"\{(\w+)\}", sentence)
    if any(name not in reads for name in names):
        return None
    return re.sub(r"\{(\w+)\}", lambda match: reads[match[1]], sentence)
