"""Count how often the simulation answers as PyTorch's CUDA build: replay what tools/record recorded.

    python tools/conformance.py [--show N]           writes results/conformance.json
    python tools/conformance.py known                writes the lists of known misses anew: read their diff
    python tools/conformance.py compare FILE FILE    two recordings: where do they differ?

outcome: both work, or both raise. exact: the same devices, or the same type and text of the error. A program has to
answer exactly. The recordings are in tests/conformance; the first line of each says of which torch it is, where and
when. A list beside each has the operators and questions that are known to answer otherwise, and how. A test compares
that list, case by case.
"""

import gc
import gzip
import itertools
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch

import results
from record import programs, questions
from record.errors import OF_THE_CPU
from samedevice import simulate_cuda
from samedevice.simulation.device import devices

ROOT = Path(__file__).resolve().parent.parent
RECORDED = ROOT / "tests" / "conformance"


class Comparison(NamedTuple):
    """A question, CUDA's answer and the simulation's, which is None if this torch lacks the operator or the sample."""

    question: str
    recorded: dict[str, Any]
    simulated: dict[str, Any] | None

    @property
    def same_outcome(self) -> bool:
        return self.simulated is not None and ("error" in self.recorded) == ("error" in self.simulated)

    @property
    def speaks_of_the_cpu(self) -> bool:
        """Tell whether the simulation's error names the CPU or a kernel of it, and CUDA's does not."""
        said = (self.simulated or {}).get("message", "")
        return bool(OF_THE_CPU.search(said)) and not OF_THE_CPU.search(self.recorded.get("message", ""))

    @property
    def exact(self) -> bool:
        return self.recorded == self.simulated

    def __str__(self) -> str:
        return f"{self.question}\n   recorded  {_said(self.recorded)}\n   simulated {_said(self.simulated)}"


def _said(answer: dict[str, Any] | None) -> str:
    if answer is None:
        return "nothing: this torch lacks the operator or the sample"
    return f"{answer['error']}: {answer['message']}" if "error" in answer else json.dumps(next(iter(answer.values())))


def recording(what: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return header and answers for the torch that is installed, or for the nearest version that was recorded."""
    return read(_nearest(what))


def known_misses(what: str) -> Path:
    """Return the list of the known misses of a recording, which stands beside it."""
    recorded = _nearest(what)
    return recorded.with_name(recorded.name.replace(".jsonl.gz", "-known-misses.jsonl"))


def as_line(miss: Comparison) -> str:
    """Return a miss as the list has it: the question, and what the simulation answers."""
    return json.dumps({"question": miss.question, "simulated": miss.simulated})


def _nearest(what: str) -> Path:
    version = _numbers(torch.__version__.partition("+")[0])
    files = {_numbers(path.name.split("-")[1]): path for path in RECORDED.glob(f"torch-*.*.*-{what}.jsonl.gz")}
    distances = {there: [abs(a - b) for a, b in zip(there, version, strict=True)] for there in files}
    return files[min(sorted(files, reverse=True), key=distances.__getitem__)]  # of two as near, the newer


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:3])


def read(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    header, *rows = (json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines())
    return header, rows


def replay_operators(rows: list[dict[str, Any]]) -> Iterator[Comparison]:
    """Return a comparison for each row."""
    from record import operators  # here, as below: it imports PyTorch's own tests, which takes five seconds

    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["op"], row["variant"]), []).append(row)
    with simulate_cuda(devices=2):  # samples of Tensor.to name a GPU where there is one
        for key, group in groups.items():
            op = operators.OPERATORS.get(key)
            wanted = {row["sample"] for row in group}
            made = itertools.islice(operators.samples(op), max(wanted) + 1) if op else ()
            there = {sample.number: sample for sample in made if sample.number in wanted}
            outs = {row["sample"] for row in group if row["kind"].startswith("out=")} & set(there)
            references = {index: operators.reference(op, there[index]) for index in outs}
            for row in group:
                sample, reference = there.get(row["sample"]), references.get(row["sample"])
                needs_reference = row["kind"].startswith("out=")
                if sample is None or sample.shapes != row["shapes"] or (needs_reference and reference is None):
                    yield Comparison(_question(row), _answer(row), None)
                    continue
                found = operators.ask(op, sample, row["kind"], row["placement"], reference)
                yield Comparison(_question(row), _answer(row), found)


# What a real GPU answers, and CUDA without one cannot: its driver is a file of ours, which survives a fork. Asked of an
# NVIDIA H100 with torch 2.11, whose text ends otherwise than that of later ones.
ON_HARDWARE = {
    "data.a_forked_worker_reads_a_gpu_dataset": {
        "error": "AcceleratorError",
        "message": "Caught AcceleratorError in DataLoader worker process 0. ... "
        + devices.NOT_INITIALIZED.rstrip().rpartition("\n")[2],
    }
}


def replay_programs(rows: list[dict[str, Any]]) -> Iterator[Comparison]:
    there = programs.programs()
    for row in rows:
        with simulate_cuda(devices=2):
            recorded = ON_HARDWARE.get(row["program"]) or _answer(row)
            yield Comparison(row["program"], recorded, programs.ask(there[row["program"]]))


# Whose questions change the GPU, the default device, autocast or what warns.
_SETTINGS = (
    "amp", "autocast", "backward_devices", "cuda", "cuda_names", "refused", "runtime", "shared_memory", "warned",
)  # fmt: skip


def replay_questions(rows: list[dict[str, Any]]) -> Iterator[Comparison]:
    """Return a comparison for each row.

    What a question sets may stay set, so each question of some families has its own simulation. The questions of any
    other family share one, because starting one takes longer than answering.
    """
    gc.freeze()  # questions about memory collect garbage, and look through all that is there each time
    try:
        for family, of_family in itertools.groupby(rows, key=lambda row: str(row["family"])):
            for together in ([row] for row in of_family) if family in _SETTINGS else (of_family,):
                with simulate_cuda(devices=2):
                    for row in together:
                        yield Comparison(_question(row), _answer(row), questions.ask(family, row["question"]))
    finally:
        gc.unfreeze()


def replay_optimizers(rows: list[dict[str, Any]]) -> Iterator[Comparison]:
    from record import optimizers

    there = {(case.told, case.number): case for case in optimizers.cases()}
    with simulate_cuda(devices=2):
        for row in rows:
            case = there.get((row["optimizer"], row["number"]))
            yield Comparison(_question(row), _answer(row), optimizers.ask(case, row["placement"]) if case else None)


def replay_modules(rows: list[dict[str, Any]]) -> Iterator[Comparison]:
    from record import modules

    there = {name: list(modules.cases(name)) for name in dict.fromkeys(row["module"] for row in rows)}
    with simulate_cuda(devices=2):
        for row in rows:
            cases = (
                each
                for each in there[row["module"]]
                if [each.number, each.training] == [row["number"], row["training"]]
            )
            case = next((each for each in cases if each.shapes == row["shapes"]), None)
            yield Comparison(_question(row), _answer(row), modules.ask(case, row["placement"]) if case else None)


def replay_dtypes(rows: list[dict[str, Any]]) -> Iterator[Comparison]:
    from record import dtypes
    from record.operators import OPERATORS

    def asked(name: str) -> Iterator[dtypes.Case]:
        if name in there:
            yield from dtypes.cases(*there[name])
        if name in dtypes.PAIRS:
            yield from dtypes.pairs(name)

    there = {" ".join(filter(None, key)): key for key in OPERATORS}
    with simulate_cuda(devices=1):
        for name, of_name in itertools.groupby(rows, key=lambda row: str(row["of"])):
            cases = {(case.number, case.kind, *case.told): case for case in asked(name)}
            for row in of_name:
                case = cases.get((row["number"], row["kind"], *row["dtypes"]))
                yield Comparison(_question(row), _answer(row), dtypes.ask(case) if case else None)


REPLAY = {
    "operators": replay_operators,
    "programs": replay_programs,
    "questions": replay_questions,
    "optimizers": replay_optimizers,
    "modules": replay_modules,
    "dtypes": replay_dtypes,
}
WITH_KNOWN_MISSES = ("operators", "questions", "optimizers", "modules", "dtypes")


def _question(row: dict[str, Any]) -> str:
    if "program" in row:
        return str(row["program"])
    if "family" in row:
        return f"{row['family']}: {row['question']}"
    if "of" in row:
        return f"{row['of']} {row['number']}, {row['kind']}, of {', '.join(row['dtypes'])}"
    if "optimizer" in row:
        return f"{row['optimizer']} {row['number']} on {', '.join(row['placement'])}"
    if "module" in row:
        how = "training" if row["training"] else "evaluating"
        return f"{row['module']} {row['number']}, {how}, on {', '.join(row['placement'])}"
    shapes = ", ".join(f"{shape} {device}" for shape, device in zip(row["shapes"], row["placement"], strict=True))
    return f"{row['op']} {row['variant']}({shapes}) {row['kind']}, sample {row['sample']}"


def _answer(row: dict[str, Any]) -> dict[str, Any]:
    return {key: row[key] for key in ("ok", "sees", "error", "message") if key in row}


def compare(one: Path, two: Path) -> None:
    """Print where two recordings answer the same question differently."""
    (_, rows), (_, others) = read(one), read(two)
    answers = {_question(row): _answer(row) for row in others}
    shared = [row for row in rows if _question(row) in answers]
    pairs = [Comparison(_question(row), _answer(row), answers[_question(row)]) for row in shared]
    for pair in pairs:
        if not pair.exact:
            print(str(pair).replace("recorded ", "the first ").replace("simulated", "the second"))
    print(
        f"{len(rows)} and {len(others)} answers, {len(shared)} to the same questions: the outcome differs in "
        f"{sum(not pair.same_outcome for pair in pairs)}, the answer in {sum(not pair.exact for pair in pairs)}."
    )


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["compare"] and len(arguments) == 3:
        compare(Path(arguments[1]), Path(arguments[2]))
        return 0
    if arguments != ["known"] and (arguments[:1] not in ([], ["--show"]) or len(arguments) > 2):
        print(__doc__, file=sys.stderr)
        return 2
    warnings.simplefilter("ignore")
    header, rows = recording("operators")
    found = {what: list(replay(recording(what)[1])) for what, replay in REPLAY.items()}
    if arguments == ["known"]:
        for what in WITH_KNOWN_MISSES:
            misses = sorted(as_line(case) for case in found[what] if not case.exact)
            known_misses(what).write_text("".join(f"{line}\n" for line in misses), "utf-8")
        return 0
    show = int(arguments[1]) if arguments else 0
    cases = [case for case in found["operators"] if case.simulated is not None]
    asked, lines = found["programs"], found["questions"]
    dtypes = [case for case in found["dtypes"] if case.simulated is not None]
    for miss in [case for case in [*asked, *cases, *lines, *dtypes] if not case.exact][:show]:
        print(miss)
    figures = {
        "recorded": {key: header[key] for key in ("torch", "cuda", "asked", "recorded")},
        "operators": len({(row["op"], row["variant"]) for row in rows}),
        "cases": len(cases),
        "skipped": len(found["operators"]) - len(cases),
        "outcome": round(sum(case.same_outcome for case in cases) / len(cases), 5),
        "exact": round(sum(case.exact for case in cases) / len(cases), 5),
        "dtypes": len(dtypes),
        "dtypes_outcome": round(sum(case.same_outcome for case in dtypes) / len(dtypes), 5),
        "dtypes_exact": round(sum(case.exact for case in dtypes) / len(dtypes), 5),
        "programs": len(asked),
        "programs_exact": sum(case.exact for case in asked),
        "questions": len(lines),
        "questions_outcome": round(sum(case.same_outcome for case in lines) / len(lines), 5),
        "questions_exact": round(sum(case.exact for case in lines) / len(lines), 5),
    }
    print(json.dumps(figures))
    results.write("conformance", figures)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
