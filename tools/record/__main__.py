"""Ask PyTorch's CUDA build and write its answers: `python -m record` over runtime.c, `python -m record gpu` on GPUs.

Each worker is a process that asks one question after another in a fork of itself. Where a question ends the fork (a
crash, a hang), the worker makes another: only that question's answers are lost, and the header names them.
"""

import datetime
import gzip
import json
import mmap
import os
import platform
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from record.errors import ABOUT_DEVICES, not_asked

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60  # for one operator or program
SECONDS_FOR_A_LINE = 20
STICKY = re.compile("CUDA error: (device-side assert|an illegal memory|misaligned|unspecified launch|an illegal instr)")
BROKEN = 3  # how a fork ends in which a GPU can answer no more


class BrokenGpuError(Exception):
    """A kernel failed on a real GPU, which answers nothing else in this process. The answers before it are whole."""


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["worker"]:
        work(arguments[1], int(arguments[2]), int(arguments[3]))
        return
    import torch

    name = torch.__version__.partition("+")[0]
    where = "over runtime.c, a CUDA without a GPU"
    wanted = [what for what in arguments if what in QUESTIONS] or list(QUESTIONS)
    if arguments[:1] == ["gpu"]:
        name += "-gpu"
        where = ", ".join(torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count()))
    for what in wanted:
        answers, lost = gather(what)
        started_before = sum("driver initialization failed" in answer.get("message", "") for answer in answers)
        if len(lost) > 50 or started_before:  # by the process whose forks ask
            raise SystemExit(f"{len(lost) + started_before} {what} could not be asked: CUDA works in no fork here.")
        header = {
            "torch": torch.__version__,
            "cuda": torch.version.cuda,
            "asked": where,
            "how": f"make record VERSION={torch.__version__.partition('+')[0]}",
            "recorded": datetime.date.today().isoformat(),
            "python": platform.python_version(),
            "machine": platform.machine(),
            "cases": len(answers),
            "lost": lost,
        }
        if what == "placements":
            from record.placements import operators

            header["operators"] = operators(answers)
        write(ROOT / "tests" / "conformance" / f"torch-{name}-{what}.jsonl.gz", [header, *answers])


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    lines = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
    # Without the time, the same answers are the same file.
    path.write_bytes(gzip.compress(lines.encode(), 9, mtime=0))
    print(f"{path.relative_to(ROOT)}: {len(rows) - 1} answers, {path.stat().st_size / 1000:.0f} kB")


def gather(what: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return every answer, in the order of the questions, and the questions whose answers were lost."""
    parts = min(os.cpu_count() or 1, 8)
    with ThreadPoolExecutor(parts) as pool:
        rows = [row for found in pool.map(lambda part: listen(what, part, parts), range(parts)) for row in found]
    rows.sort(key=lambda row: row["at"])
    answers = [{key: value for key, value in row.items() if key != "at"} for row in rows if "lost" not in row]
    return answers, [row["lost"] for row in rows if "lost" in row]


def listen(what: str, part: int, parts: int) -> list[dict[str, Any]]:
    """Return what one worker prints.

    But for programs and questions, which ask of memory too, no memory is used twice, so that what no kernel computed is
    zero and not what happened to be there.
    """
    settings = {} if what in ("programs", "questions") else {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
    if what == "placements":  # errors then say which line of C++ raised them
        settings |= {"TORCH_SHOW_CPP_STACKTRACES": "1", "TORCH_DISABLE_ADDR2LINE": "1"}
    command = [sys.executable, "-W", "ignore", "-m", "record", "worker", what, str(part), str(parts)]
    worker = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=os.environ | settings)
    if worker.returncode:
        raise SystemExit(f"A worker ended before its time: {' '.join(command)}")
    return [json.loads(line) for line in worker.stdout.splitlines()]


def work(what: str, start: int, step: int) -> None:
    """Ask every step-th question from `start` on and print the answers, and what was lost, as lines of JSON."""
    import torch

    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what programs and compilers print is no answer
    os.dup2(1, 2)
    # PyTorch refuses CUDA in a fork once anything asked for it: op_db, which asks as it is imported, is to find none.
    # The variable hides them from NVML, too, which torch.cuda.device_count() asks first.
    count, torch._C._cuda_getDeviceCount = torch._C._cuda_getDeviceCount, lambda: 0
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    questions = list(QUESTIONS[what]())
    os.environ.pop("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = visible
    torch._C._cuda_getDeviceCount = count
    reached = mmap.mmap(-1, 8)  # seen by parent and child
    while start < len(questions):
        child = os.fork()
        if child == 0:
            # Each of the single lines has a process of its own, so that none depends on the ones before it.
            for at in [start] if what == "questions" else range(start, len(questions), step):
                reached[:] = at.to_bytes(8, "little")
                # Ends the process, also where C++ waits for what no kernel does.
                signal.alarm(SECONDS_FOR_A_LINE if what == "questions" else SECONDS)
                try:
                    for answer in questions[at][1]:
                        print(json.dumps({"at": at} | answer), file=out)
                except BrokenGpuError:
                    os._exit(BROKEN)
            os._exit(0)  # not by way of C++'s destructors, which know of real GPUs only
        failed = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) not in (0, BROKEN)
        at = int.from_bytes(reached[:], "little")
        if failed:
            print(json.dumps({"at": at, "lost": questions[at][0]}), file=out)
        start = at + step


def program_questions() -> Iterator[tuple[str, Iterator[dict[str, Any]]]]:
    from record.programs import ask, programs

    def answer(name: str, program: Any) -> Iterator[dict[str, Any]]:
        found = ask(program)
        if not not_asked(found.get("message", ""), "CUDA error: invalid device ordinal"):
            yield {"program": name} | found

    for name, program in programs().items():
        yield name, answer(name, program)


def line_questions() -> Iterator[tuple[str, Iterator[dict[str, Any]]]]:

    from record.questions import ask, questions

    def answer(family: str, question: str) -> Iterator[dict[str, Any]]:
        found = ask(family, question)
        if not not_asked(found.get("message", ""), "Could not run|CUDA error: invalid device ordinal"):
            yield {"family": family, "question": question} | found

    for family, question in questions():
        yield f"{family}: {question}", answer(family, question)


def operator_questions() -> Iterator[tuple[str, Iterator[dict[str, Any]]]]:
    from record.operators import OPERATORS

    for (name, variant), op in OPERATORS.items():
        yield " ".join(filter(None, (name, variant))), operator_answers(op)


def operator_answers(op: Any) -> Iterator[dict[str, Any]]:
    import torch

    from record.operators import ask, different, kinds, reference

    gpus = torch.cuda.device_count()
    for place, sample in enumerate(different(op)):
        result = reference(op, sample) if op.supports_out else None
        home: dict[str, dict[str, Any]] = {}
        forward: set[str] = set()  # the placements that a call accepts
        for kind, placement in kinds(op, sample, gpus):
            if kind.startswith("out=") and result is None:
                continue
            if kind == "backward" and (place or str(placement) not in forward):
                continue
            group = kind.partition("=")[0]
            found = ask(op, sample, kind, placement, result)
            if kind == "call" and "ok" in found:
                forward.add(str(placement))
            if not counts(found, home.setdefault(group, found)):
                continue
            yield {
                "op": op.name, "variant": op.variant_test_name, "sample": sample.number, "shapes": sample.shapes,
                "kind": kind, "placement": placement,
            } | found  # fmt: skip


def counts(found: dict[str, Any], home: dict[str, Any]) -> bool:
    """Tell whether an answer is about devices; `home` is the answer to the same with everything on cuda:0."""
    said = found.get("message", "")
    if not_asked(said) or found.get("error") == "OutOfMemoryError":
        return False
    # Where it cannot run here at all, only what a check on devices says counts.
    return "error" not in home or (said != home.get("message") and bool(ABOUT_DEVICES.search(said)))


def optimizer_questions() -> Iterator[tuple[str, Iterator[dict[str, Any]]]]:
    from record.optimizers import Case, ask, cases, placements

    def answers(case: Case) -> Iterator[dict[str, Any]]:
        import torch

        home: dict[str, Any] = {}
        for placement in placements(torch.cuda.device_count()):
            found = ask(case, placement)
            home = home or found
            if counts(found, home):
                yield {"optimizer": case.told, "number": case.number, "how": case.how, "placement": placement} | found

    for case in cases():
        yield case.told, answers(case)


def module_questions() -> Iterator[tuple[str, Iterator[dict[str, Any]]]]:
    from record.modules import ask, cases, names, placements

    def answers(name: str) -> Iterator[dict[str, Any]]:
        import torch

        for case in cases(name):
            home: dict[str, Any] = {}
            for placement in placements(case, torch.cuda.device_count()):
                found = ask(case, placement)
                home = home or found
                if counts(found, home):
                    about = {"module": name, "number": case.number, "training": case.training, "shapes": case.shapes}
                    yield about | {"placement": placement} | found

    for name in names():
        yield name, answers(name)


def placement_questions() -> Iterator[tuple[str, Iterator[dict[str, Any]]]]:
    from record.operators import OPERATORS
    from record.placements import tables

    def left_out(found: dict[str, Any]) -> bool:
        said = found.get("message", "")
        return bool(said and (not_asked(said) or not ABOUT_DEVICES.search(said)))

    for (name, variant), op in OPERATORS.items():
        yield " ".join(filter(None, (name, variant))), tables(op, left_out)


def dtype_questions() -> Iterator[tuple[str, Iterator[dict[str, Any]]]]:
    from record.dtypes import PAIRS, Case, ask, cases, pairs
    from record.operators import OPERATORS

    def answers(asked: Iterator[Case]) -> Iterator[dict[str, Any]]:
        for case in asked:
            found = ask(case)
            if STICKY.search(found.get("message", "")):
                raise BrokenGpuError
            if not not_asked(found.get("message", "")) and found.get("error") != "OutOfMemoryError":
                yield {"of": case.name, "number": case.number, "kind": case.kind, "dtypes": case.told} | found

    for name, variant in OPERATORS:
        yield " ".join(filter(None, (name, variant))), answers(cases(name, variant))
    for name in PAIRS:
        yield name, answers(pairs(name))


QUESTIONS = {
    "programs": program_questions,
    "questions": line_questions,
    "operators": operator_questions,
    "optimizers": optimizer_questions,
    "modules": module_questions,
    "placements": placement_questions,
    "dtypes": dtype_questions,
}

if __name__ == "__main__":
    main(sys.argv[1:])
