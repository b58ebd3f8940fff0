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

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60  # for one operator or program

# What runtime.c cannot do, and errors that come of values that no kernel computed. No answers about devices.
NOT_ASKED = re.compile(
    r"cu(FFT|BLAS|SOLVER|SPARSE|DNN|RAND)|CUDA (error|out of memory)|INTERNAL ASSERT|Could not run|nvrtc|"
    r"negative entry|out of bounds|overflow|Declaration:|none are available|compute capability",
    re.IGNORECASE,
)
ABOUT_DEVICES = re.compile(r"\bdevices?\b|\bcuda\b|\bcpu\b|torch\.\w*Tensor", re.IGNORECASE)


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
        if len(lost) > 50:
            raise SystemExit(f"{len(lost)} {what} ended the process that asked them: CUDA does not work here.")
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
    """Every answer, in the order of the questions, and the questions whose answers were lost."""
    parts = min(os.cpu_count() or 1, 8)
    with ThreadPoolExecutor(parts) as pool:
        rows = [row for found in pool.map(lambda part: listen(what, part, parts), range(parts)) for row in found]
    rows.sort(key=lambda row: row["at"])
    answers = [{key: value for key, value in row.items() if key != "at"} for row in rows if "lost" not in row]
    return answers, [row["lost"] for row in rows if "lost" in row]


def listen(what: str, part: int, parts: int) -> list[dict[str, Any]]:
    """What one worker prints.

    But for programs no memory is used twice, so that what no kernel computed is zero and not what happened to be there.
    """
    settings = {} if what == "programs" else {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
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
    count, torch._C._cuda_getDeviceCount = torch._C._cuda_getDeviceCount, lambda: 0
    questions = list(QUESTIONS[what]())
    torch._C._cuda_getDeviceCount = count
    reached = mmap.mmap(-1, 8)  # seen by parent and child
    while start < len(questions):
        child = os.fork()
        if child == 0:
            for at in range(start, len(questions), step):
                reached[:] = at.to_bytes(8, "little")
                signal.alarm(SECONDS)  # ends the process, also where C++ waits for what no kernel does
                for answer in questions[at][1]:
                    print(json.dumps({"at": at} | answer), file=out)
            os._exit(0)  # not by way of C++'s destructors, which know of real GPUs only
        if os.waitpid(child, 0)[1] == 0:
            return
        at = int.from_bytes(reached[:], "little")
        print(json.dumps({"at": at, "lost": questions[at][0]}), file=out)
        start = at + step


def program_questions() -> Iterator[tuple[str, Iterator[dict[str, Any]]]]:
    from record.programs import ask, programs

    def answer(name: str, program: Any) -> Iterator[dict[str, Any]]:
        found = ask(program)
        if not NOT_ASKED.search(found.get("message", "").replace("CUDA error: invalid device ordinal", "")):
            yield {"program": name} | found

    for name, program in programs().items():
        yield name, answer(name, program)


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
        home: dict[str, Any] = {}  # for each kind, the answer with everything on cuda:0
        forward: set[str] = set()  # the placements that a call accepts
        for kind, placement in kinds(op, sample, gpus):
            if kind.startswith("out=") and result is None:
                continue
            if kind == "backward" and (place or str(placement) not in forward):
                continue
            group = kind.partition("=")[0]
            found = ask(op, sample, kind, placement, result)
            said = found.get("message", "")
            if group not in home:
                home[group] = found
            if kind == "call" and "ok" in found:
                forward.add(str(placement))
            if NOT_ASKED.search(said) or found.get("error") == "OutOfMemoryError":
                continue
            if "error" in home[group] and (said == home[group].get("message") or not ABOUT_DEVICES.search(said)):
                continue  # this cannot run here at all: only what a check on devices says counts
            yield {
                "op": op.name, "variant": op.variant_test_name, "sample": sample.number, "shapes": sample.shapes,
                "kind": kind, "placement": placement,
            } | found  # fmt: skip


def placement_questions() -> Iterator[tuple[str, Iterator[dict[str, Any]]]]:
    from record.operators import OPERATORS
    from record.placements import tables

    def not_asked(found: dict[str, Any]) -> bool:
        said = found.get("message", "")
        return bool(said and (NOT_ASKED.search(said) or not ABOUT_DEVICES.search(said)))

    for (name, variant), op in OPERATORS.items():
        yield " ".join(filter(None, (name, variant))), tables(op, not_asked)


QUESTIONS = {"programs": program_questions, "operators": operator_questions, "placements": placement_questions}

if __name__ == "__main__":
    main(sys.argv[1:])
