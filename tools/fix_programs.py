"""Let `samedevice fix` fix programs with several device bugs each, and write to results/fix.json what became of them.

Each folder of tests/fix/programs has a program whose bugs show on a GPU only. What it prints on the CPU is what it
should print: simulated GPUs draw the CPU's random numbers here, and compute what the CPU does. If programs are named
(`python tools/fix_programs.py ema_trainer`), only these are fixed, and nothing is written.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import results

FOLDER = Path(__file__).resolve().parents[1] / "tests/fix/programs"


@dataclass(frozen=True)
class Outcome:
    """What became of a program.

    Attributes:
        runs: whether `fix` ended with a program that runs.
        is_right: whether that program prints what it should.
        errors: how many fixes there were.
        taken_back: how many were tried and taken back.
        says: what `fix` said on stderr.
    """

    runs: bool
    is_right: bool
    errors: int
    taken_back: int
    says: str


def main(names: list[str]) -> int:
    folders = [FOLDER / name for name in names] or sorted(path.parent for path in FOLDER.glob("*/about.toml"))
    outcomes = []
    with ThreadPoolExecutor(os.cpu_count()) as threads:  # each waits for its processes
        for folder, outcome in zip(folders, threads.map(fixed, folders), strict=True):
            outcomes.append(outcome)
            said = "right" if outcome.is_right else "RUNS, BUT PRINTS SOMETHING ELSE" if outcome.runs else "LEFT"
            print(f"{folder.name}: {said}, {outcome.errors} fixed, {outcome.taken_back} taken back", flush=True)
            if not outcome.is_right:
                print(outcome.says)
    figures = {
        "programs": len(outcomes),
        "runs": sum(outcome.runs for outcome in outcomes),
        "right": sum(outcome.is_right for outcome in outcomes),
        "fixes": sum(outcome.errors for outcome in outcomes),
        "taken_back": sum(outcome.taken_back for outcome in outcomes),
    }
    print(figures)
    if not names:
        results.write("fix", figures)
    return 0


def fixed(folder: Path) -> Outcome:
    """Fix a copy of a program, and run it."""
    about = tomllib.loads((folder / "about.toml").read_text("utf-8"))
    gpus, arguments = str(about["gpus"]), about["arguments"]
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place, folder.name)
        shutil.copytree(folder, copy)
        expected = _run(copy, [sys.executable, "train.py", *arguments], CUDA_VISIBLE_DEVICES="")
        found = Path(place, "found.json")
        command = ["fix", "--write", "--gpus", gpus, "--json", str(found), "train.py", *arguments]
        process = _run(copy, [sys.executable, "-m", "samedevice", *command])
        data: dict[str, Any] = json.loads(found.read_text("utf-8"))
        command = ["run", "--rng", "cpu", "--gpus", gpus, "train.py", *arguments]
        after = _run(copy, [sys.executable, "-m", "samedevice", *command])
    return Outcome(
        process.returncode == 0 == after.returncode,
        process.returncode == 0 == after.returncode and after.stdout == expected.stdout,
        len(data["fixes"]),
        len(data["taken_back"]),
        f"{process.stderr}{process.stdout}",
    )


def _run(folder: Path, command: list[str], **settings: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", **settings}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
