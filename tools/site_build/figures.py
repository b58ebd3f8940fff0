"""Figures from the results of runs: on a page, `figures.conformance.cases` is `cases` of results/conformance.json.

Shares are cut, never rounded up: what is missing to 100 % must show.
"""

import json
import math
import re
from pathlib import Path

from site_build.build_error import BuildError
from site_build.dates import written_date


class Figures:
    """The files of results/, by their names.

    Raises:
        BuildError: no run has written a file of that name.
    """

    def __init__(self, results: Path) -> None:
        self._results = results

    def __getitem__(self, name: str) -> object:
        file = self._results / f"{name}.json"
        if not file.exists():
            raise BuildError(f"A page wants a figure of results/{file.name}, which no run has written yet.")
        return _figure(json.loads(file.read_text(encoding="utf-8")), file.name, "")


class _Group:
    """The figures of a part of a file, by their names."""

    def __init__(self, values: dict[str, object], file: str, key: str) -> None:
        self._values, self._file, self._key = values, file, key

    def __getitem__(self, name: str) -> object:
        key = f"{self._key}.{name}".lstrip(".")
        if name not in self._values:
            raise BuildError(f"results/{self._file} has no figure {key}, which a page wants.")
        return _figure(self._values[name], self._file, key)

    def __len__(self) -> int:
        return len(self._values)

    def __str__(self) -> str:
        raise BuildError(f"results/{self._file} has a group of figures at {self._key or 'its root'}, and no figure.")


def _figure(value: object, file: str, key: str) -> object:
    return _Group(value, file, key) if isinstance(value, dict) else value


def share(part: float) -> str:
    """Return a share in per cent: `99.8 %`."""
    return f"{math.floor(part * 1000 + 1e-9) / 10:g} %"


def written(value: object) -> str:
    """Return a figure as pages have it: `12,000`, `3.7`, `1 March 2026`."""
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        return written_date(value)
    return str(value)
