"""`measured` prints numbers that only a real GPU can give: times, and results that were read too early.

A simulated GPU has no speed, and it never reads a copy too early. So `measured` calls the function on a real GPU only,
and prints what it returns. On simulated GPUs it prints the numbers that a real GPU wrote to the record, with the GPU's
name, the version of torch and the day. If the record has no such numbers, it prints one sentence instead, SIMULATED.

`make test-gpu` writes the record, RECORD. The record is a file of the package and is not in results/, because a
notebook service has installed only the package.
"""

import datetime
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lessons import gpus

RECORD = Path(__file__).with_name("measured.json")
# The environment variable that names the file to which a real GPU's numbers are written. tools/verify.py sets it;
# without it, the numbers are only printed.
KEEP = "SAMEDEVICE_RECORD"
# The first words of an output that was measured on this machine. It may differ from the stored output.
HERE = "Measured here, on "
# The whole output on simulated GPUs if no real GPU's numbers are in the record.
SIMULATED = "On a real GPU, this cell measures and prints its numbers."


def measured(name: str, function: Callable[[], Sequence[tuple[str, float, str]]]) -> None:
    """Call the function on a real GPU and print its numbers; on a simulated GPU, print the recorded ones, if any.

    Args:
        name: what is measured, such as "pinned-by-hand"; the key in the record.
        function: takes no arguments and returns rows of three: what was measured, the number, its unit. It is called
            on a real GPU only.

    Example:
        >>> measured("pinned-by-hand", pinned_by_hand)
        On a real GPU, this cell measures and prints its numbers.
    """
    real = gpus.real_gpus()
    if not real:
        result = _read(RECORD).get(name)
        print(SIMULATED if result is None else _told("Recorded on ", result))
        return
    import torch  # imported here, so that `import lessons` stays fast

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
    """Return where and when it was measured, then a line for each number."""
    rows = [
        (what, f"{number:,.3g}" if number < 1000 else f"{number:,.0f}", unit) for what, number, unit in result["rows"]
    ]
    wide = max(len(number) for _, number, _ in rows)
    lines = [f"{number:>{wide}} {unit}  {what}" for what, number, unit in rows]
    return "\n".join([f"{begin}{result['gpu']},", f"torch {result['torch']}, {result['date']}:", *lines])
