"""What pages state about the simulation: figures from the results of runs, and the known differences from CUDA.

`<!-- figure: conformance ops.outcome % -->` is ops.outcome of results/conformance.json, a share, in per cent.
Shares are cut, never rounded up: what is missing to 100 % must show. `<!-- known differences -->` is the list of them.
"""

import json
import math
import re
import tomllib
from importlib import resources
from pathlib import Path

from mkdocs.exceptions import PluginError

from lessons.site.dates import written_date

_DIFFERENCES = "<!-- known differences -->"
_FIGURE = re.compile(r"<!-- figure: ([\w-]+) ([\w.-]+)( %)? -->")


def with_differences(markdown: str) -> str:
    """`markdown` with the list of known differences from CUDA in its place."""
    if _DIFFERENCES not in markdown:
        return markdown
    text = (resources.files("samedevice") / "simulation/known_differences.toml").read_text("utf-8")
    known = tomllib.loads(text)["difference"]
    return markdown.replace(_DIFFERENCES, "\n".join(f"- {one['what']} {one['why']}" for one in known))


def with_figures(markdown: str, results: Path) -> str:
    """`markdown` with each figure in its place.

    Raises:
        PluginError: no run wrote such a file, or it has no such figure.
    """
    return _FIGURE.sub(lambda found: _figure(results / f"{found[1]}.json", found[2], bool(found[3])), markdown)


def _figure(file: Path, key: str, is_share: bool) -> str:
    if not file.exists():
        raise PluginError(f"A page wants a figure of results/{file.name}, which no run has written yet.")
    value = json.loads(file.read_text(encoding="utf-8"))
    for part in key.split("."):
        if not isinstance(value, dict) or part not in value:
            raise PluginError(f"results/{file.name} has no figure {key}, which a page wants.")
        value = value[part]
    return written(value, is_share)


def written(value: object, is_share: bool = False) -> str:
    """A figure as pages have it: `12,000`, `3.7`, `99.8 %`, `1 March 2026`."""
    if is_share:
        assert isinstance(value, (int, float))
        return f"{math.floor(value * 1000 + 1e-9) / 10:g} %"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        return written_date(value)
    return str(value)
