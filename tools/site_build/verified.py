"""The last time that a lesson passed, and on what: the results that runs wrote are the only source."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from results import digest_of_code
from site_build.dates import written_date


def last_verified(lesson: str, notebook: Mapping[str, Any], results: Path) -> list[str]:
    """Return a phrase for each results file in which every cell of `lesson`, as it is now, passed, real GPUs first."""
    found = []
    for file in sorted(results.glob("*.json")):
        run = json.loads(file.read_text(encoding="utf-8"))
        standing = run.get("lessons", {}).get(lesson, {})  # other runs measure other things
        if standing.get("passed") and standing.get("code") == digest_of_code(notebook):
            gpus = ", ".join(dict.fromkeys(run["gpus"]))
            found.append(f"torch {run['torch']} on {gpus}, {written_date(run['date'])}")
    return found
