"""`measured`: a number that only a real GPU can give. A lesson measures it there, and elsewhere shows the last record.

No simulation has a bandwidth, and none reads a copy too early. So on simulated GPUs a lesson prints what a real one
measured, with its name, the version of torch and the day; or, as long as there is no record, that it waits for one.

The record is RECORD, written by `make test-gpu`. It lies in the package rather than in results/, for a lesson on a
notebook service without a GPU has installed the package and nothing else.
"""

import datetime
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lessons import gpus

RECORD = Path(__file__).with_name("measured.json")
# Where a real GPU's numbers are to be kept; set by tools/verify.py, and else they are shown only.
KEEP = "SAMEDEVICE_RECORD"
# How the output begins where this machine measured: such an output differs from what is stored, and may.
HERE = "Measured here, on "

# How the output begins where there is no number yet.
WAITS = "This cell waits for a real GPU"

_WAITING = f"""\
{WAITS}: nobody has run it on one yet.
To run it: open this page in Colab, and choose a GPU as runtime."""


def measured(name: str, function: Callable[[], Sequence[tuple[str, float, str]]]) -> None:
    """On a real GPU, call the function and print what it measured; on a simulated one, print the last record, if any.

    Arguments:
        name: what is measured, such as "pinned-against-pageable": the record's key.
        function: takes nothing; returns rows: what was measured, the number, its unit. Called on a real GPU only.

    Example:
        >>> measured("pinned-against-pageable", pinned_against_pageable)
        This cell waits for a real GPU: nobody has run it on one yet.
        To run it: open this page in Colab, and choose a GPU as runtime.
    """
    real = gpus.real_gpus()
    if not real:
        result = _read(RECORD).get(name)
        print(_WAITING if result is None else _told("Recorded on ", result))
        return
    import torch  # here, so that `import lessons` stays light

    result = {
        "gpu": real[0],
        "torch": torch.__version__,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "rows": [[what, float(f"{number:.3g}"), unit] for what, number, unit in function()],
    }
    if keep := os.environ.get(KEEP):
        record = _read(Path(keep)) | {name: result}
        Path(keep).write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", "utf-8")
    print(_told(HERE, result))


def _read(record: Path) -> dict[str, Any]:
    return json.loads(record.read_text("utf-8")) if record.exists() else {}


def _told(begin: str, result: dict[str, Any]) -> str:
    """Where and when it was measured, then a line for each number."""
    rows = [
        (what, f"{number:,.3g}" if number < 1000 else f"{number:,.0f}", unit) for what, number, unit in result["rows"]
    ]
    wide = max(len(number) for _, number, _ in rows)
    lines = [f"{number:>{wide}} {unit}  {what}" for what, number, unit in rows]
    return "\n".join([f"{begin}{result['gpu']},", f"torch {result['torch']}, {result['date']}:", *lines])
