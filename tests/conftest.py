"""The figures of the site, for tests that compare them with what was counted."""

import json
from pathlib import Path

import pytest

RESULTS = Path(__file__).resolve().parents[1] / "results"


@pytest.fixture
def figures_on_file():
    """Read `results/NAME.json`. CI takes these files away where it uploads those of its own run: then it is skipped."""

    def read(name):
        file = RESULTS / f"{name}.json"
        if not file.exists():
            pytest.skip(f"results/{name}.json is missing, so there is nothing to compare")
        return json.loads(file.read_text("utf-8"))

    return read
