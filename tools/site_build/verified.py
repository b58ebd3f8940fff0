"""The last time that a lesson passed, and on what: the results that runs wrote are the only source."""

import json
from pathlib import Path

from site_build.dates import written_date


def last_verified(lesson: str, results: Path) -> list[str]:
    """Return a phrase for each results file in which every cell of `lesson` passed, real GPUs first."""
    found = []
    for file in sorted(results.glob("*.json")):
        run = json.loads(file.read_text(encoding="utf-8"))
        standing = run.get("lessons", {}).get(lesson, {})  # other runs measure other things
        if standing.get("passed"):
            gpus = ", ".join(dict.fromkeys(run["gpus"]))
            found.append(f"torch {run['torch']} on {gpus}, {written_date(run['date'])}")
    return found
