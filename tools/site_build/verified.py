"""When a lesson last passed, and on what: from the results that runs wrote, which are the only source."""

import json
from pathlib import Path

from site_build.dates import written_date


def last_verified(lesson: str, results: Path) -> list[str]:
    """A phrase for each results file in which every cell of `lesson` passed: real GPUs first, then simulated ones."""
    found = []
    for file in sorted(results.glob("*.json")):
        run = json.loads(file.read_text(encoding="utf-8"))
        standing = run.get("lessons", {}).get(lesson, {})  # other runs measure other things
        if standing.get("passed"):
            gpus = ", ".join(dict.fromkeys(run["gpus"]))
            found.append(f"torch {run['torch']} on {gpus}, {written_date(run['date'])}")
    return found
