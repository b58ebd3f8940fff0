"""The files that tools leave in results/: the day, the versions, the machine, and the figures that were measured.

The site's pages take their figures from these files, so that none is typed by hand.
"""

import contextlib
import datetime
import hashlib
import json
import os
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "results"


def write(name: str, figures: dict[str, Any]) -> None:
    """Write `figures` to results/NAME.json, with the day and what they were measured on, and say so.

    A figure may correct what is filled in here: a CUDA build calls itself 2.13.0+cu130 only when it is imported.
    """
    about: dict[str, Any] = {"date": datetime.datetime.now(datetime.UTC).date().isoformat()}
    with contextlib.suppress(PackageNotFoundError):  # the site's tools run without it
        about["torch"] = version("torch")
    about["python"] = platform.python_version()
    about["machine"] = f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs"
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(about | figures, indent=1, ensure_ascii=False)
    (FOLDER / f"{name}.json").write_text(text + "\n", "utf-8")
    print(f"Written: results/{name}.json")


def digest_of_code(notebook: Mapping[str, Any]) -> str:
    """Return what tells a lesson's code from any other: what a run found out is about this code, not about its text."""
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return hashlib.sha256("\0".join(code).encode()).hexdigest()[:16]
