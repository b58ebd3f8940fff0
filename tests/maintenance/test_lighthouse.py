"""`make lighthouse`: what counts as below the budget, which pages are measured, and how they are served."""

import gzip
import json
import re
import urllib.request
from pathlib import Path

import pytest

from lighthouse import measure

ROOT = Path(__file__).resolve().parents[2]
PERFECT = dict.fromkeys(measure.BUDGET, 1.0)


def a_report(audit=1, **scores):
    return {
        "categories": {
            name: {"score": score, "auditRefs": [{"id": f"an audit of {name}", "weight": 7}, {"id": "n", "weight": 0}]}
            for name, score in {**PERFECT, **scores}.items()
        },
        "audits": {f"an audit of {name}": {"score": audit} for name in PERFECT} | {"n": {"score": None}},
    }


@pytest.fixture
def measured(monkeypatch):
    """The scores of a page whose runs are given as Lighthouse's reports."""

    def of_runs(*reports):
        left = list(reports)
        monkeypatch.setattr(measure, "report", lambda url, options: left.pop())
        monkeypatch.setattr(measure, "RUNS", len(reports))
        return measure.measured("http://127.0.0.1/", [])

    return of_runs


def test_a_score_is_the_median_of_its_runs(measured):
    assert measured(*[a_report(performance=score) for score in (0.62, 0.99, 1.0)]) == {
        "performance": 99,
        "accessibility": 100,
        "best-practices": 100,
        "seo": 100,
        "amiss": [],
    }


def test_what_is_below_the_budget_is_named_with_page_device_and_audits(measured):
    fine = measured(a_report(performance=0.99))
    slow = measured(a_report(performance=0.98))
    wrong = measured(a_report(audit=0, seo=0.99))
    assert measure.below_budget({"": {"phone": fine, "laptop": fine}}) == []
    assert measure.below_budget({"a/": {"phone": slow, "laptop": fine}}) == [
        "/a/ on a phone: performance 98, at least 99 are wanted"
    ]
    assert wrong["amiss"] == ["an audit of accessibility", "an audit of best-practices", "an audit of seo"]
    (said,) = measure.below_budget({"": {"laptop": wrong}})
    assert said.startswith("/ on a laptop: seo 99, at least 100 are wanted (an audit of accessibility, ")


def test_the_pages_at_the_top_and_the_heaviest_lesson_and_error_page_are_measured(tmp_path):
    sizes = {
        "": 9,
        "lessons": 1,
        "errors": 2,
        "notebooks/01": 5,
        "notebooks/02": 7,
        "errors/sd1": 4,
        "errors/sd2": 3,
    }
    for place, size in sizes.items():
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
        (tmp_path / place / "index.html").write_text("x" * size)
    assert measure.of_each_kind(tmp_path) == ["", "errors/", "lessons/", "notebooks/02/", "errors/sd1/"]


def test_text_is_served_compressed_and_a_missing_page_is_missing(tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site/index.html").write_text("<p>text</p>")
    (tmp_path / "site/picture.png").write_bytes(b"\x89PNG")
    with measure.serve(tmp_path / "site") as server:
        address = f"http://127.0.0.1:{server.server_address[1]}/site/"
        with urllib.request.urlopen(address) as page:
            assert page.headers["Content-Encoding"] == "gzip"
            assert page.headers["Content-Type"].startswith("text/html")
            assert gzip.decompress(page.read()) == b"<p>text</p>"
        with urllib.request.urlopen(f"{address}picture.png") as picture:
            assert picture.headers["Content-Encoding"] is None
            assert picture.read() == b"\x89PNG"
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{address}b.html")
        server.shutdown()


def test_a_run_that_fails_ends_with_what_lighthouse_said(monkeypatch, tmp_path):
    program = tmp_path / "lighthouse"
    program.write_text("#!/bin/sh\necho No Chrome installations found. >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(measure, "PROGRAM", program)
    with pytest.raises(SystemExit, match=r"Lighthouse failed on http://127.0.0.1/: No Chrome installations found\."):
        measure.measured("http://127.0.0.1/", [])


def test_lighthouse_is_pinned_and_its_lock_names_no_host():
    wanted = json.loads((measure.HERE / "package.json").read_text("utf-8"))["dependencies"]["lighthouse"]
    lock = (measure.HERE / "package-lock.json").read_text("utf-8")
    assert re.fullmatch(r"\d+\.\d+\.\d+", wanted)
    assert json.loads(lock)["packages"]["node_modules/lighthouse"]["version"] == wanted
    assert '"resolved"' not in lock
    assert all("integrity" in package for name, package in json.loads(lock)["packages"].items() if name)
