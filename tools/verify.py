"""Run the notebooks on this machine's GPUs and write what came of it to results/gpu.json: `make test-gpu`.

Only what this file writes counts as verified on hardware. A lesson that needs more GPUs than there
are is skipped by conftest.py, and the results say so.
"""

import datetime
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "results" / "gpu.json"


def main() -> int:
    import torch  # here, so that the tests of the functions below need not wait for it

    gpus = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    if not gpus:
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
            env=os.environ | {"SAMEDEVICE_GPUS": "real"},
        )
        lessons = standings(report.read_text("utf-8"))
    results = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "torch": torch.__version__,
        "gpus": gpus,
        "lessons": lessons,
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    print(f"Written: {RESULTS.relative_to(ROOT)}")
    return 0 if run.returncode == 0 else 1


def standings(report: str) -> dict[str, dict[str, object]]:
    """Each lesson's standing, from pytest's report in JUnit's XML, where a notebook's cells are test cases."""
    cells: dict[str, list[ElementTree.Element]] = {}
    for case in ElementTree.fromstring(report).iter("testcase"):
        lesson = case.get("classname", "").removeprefix("notebooks.").removesuffix(".ipynb")
        cells.setdefault(lesson, []).append(case)
    return {lesson: standing(cases) for lesson, cases in cells.items()}


def standing(cases: list[ElementTree.Element]) -> dict[str, object]:
    skipped = [case.find("skipped") for case in cases]
    if skipped[0] is not None and None not in skipped:
        return {"standing": "skipped", "why": skipped[0].get("message")}
    failed = [case.get("name") for case in cases if case.find("failure") is not None or case.find("error") is not None]
    return {"standing": "real", "passed": not failed, "cells": len(cases), "failed": failed}


if __name__ == "__main__":
    sys.exit(main())
