"""Run the notebooks and write the outcome to results/, from which the site says when each was last verified.

`make test-gpu` runs them on this machine's GPUs (results/gpu.json), `make verify` on simulated ones
(results/simulated.json). Only the former counts as verified on hardware: a lesson that needs more GPUs than there are
is skipped by conftest.py, and the results say so. What lessons measured on a real GPU goes into the record that they
show on simulated GPUs (src/lessons/measured.json).
"""

import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import results
from lessons.measured import KEEP, RECORD

ROOT = Path(__file__).resolve().parent.parent
RESULTS = {"real": "gpu", "simulated": "simulated"}


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0] not in RESULTS:
        print("Name the GPUs that the lessons are to run on: tools/verify.py real, or simulated.", file=sys.stderr)
        return 2
    kind = arguments[0]
    import torch  # here, so that the tests of the functions below need not wait for it

    gpus = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    if kind == "simulated":
        gpus = ["simulated GPUs"]
    elif not gpus:
        print(
            f"torch {torch.__version__} finds no CUDA GPU here: run this on a machine that has one, with its driver"
            " and PyTorch's CUDA build.",
            file=sys.stderr,
        )
        return 2
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        run = subprocess.run(
            [sys.executable, "-m", "pytest", "--nbval", "notebooks", "--junitxml", report],
            cwd=ROOT,
            env=os.environ | {"SAMEDEVICE_GPUS": kind} | ({KEEP: str(RECORD)} if kind == "real" else {}),
        )
        lessons = standings(report.read_text("utf-8"), kind)
    for lesson, found in lessons.items():
        found["code"] = results.digest_of_code(json.loads((ROOT / f"notebooks/{lesson}.ipynb").read_text("utf-8")))
    results.write(RESULTS[kind], {"torch": torch.__version__, "gpus": gpus, "lessons": lessons})
    return 0 if run.returncode == 0 else 1


def standings(report: str, kind: str) -> dict[str, dict[str, object]]:
    """Return each lesson's standing, from pytest's report in JUnit's XML, where a notebook's cells are test cases."""
    cells: dict[str, list[ElementTree.Element]] = {}
    for case in ElementTree.fromstring(report).iter("testcase"):
        lesson = case.get("classname", "").removeprefix("notebooks.").removesuffix(".ipynb")
        cells.setdefault(lesson, []).append(case)
    return {lesson: standing(cases, kind) for lesson, cases in cells.items()}


def standing(cases: list[ElementTree.Element], kind: str) -> dict[str, object]:
    skipped = [case.find("skipped") for case in cases]
    if skipped[0] is not None and None not in skipped:
        return {"standing": "skipped", "why": skipped[0].get("message")}
    # Skipped alone: what nbval did not run after a cell that hung.
    bad = ("failure", "error", "skipped")
    failed = [case.get("name") for case in cases if any(case.find(what) is not None for what in bad)]
    return {"standing": kind, "passed": not failed, "cells": len(cases), "failed": failed}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
