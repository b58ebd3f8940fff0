"""The doctor in the browser finds in every text what `samedevice.explain` finds."""

import json
import re
from pathlib import Path

import pytest
from tests.site.pasted import AWKWARD

from samedevice import explain
from samedevice.catalog import load

ROOT = Path(__file__).parents[2]
REPORTS = ROOT.parent / "shared" / "casebook" / "reports.jsonl"


def found_by_python(text):
    diagnosis = explain(text)
    place = diagnosis.place
    return {
        "message": diagnosis.message and diagnosis.message.id,
        "reads": dict(diagnosis.reads),
        "says": diagnosis.says,
        "causes": [{"id": likely.cause.id, "because": list(likely.because)} for likely in diagnosis.causes],
        "place": place and {"file": place.file, "line": place.line, "function": place.function, "code": place.code},
        "other": diagnosis.other and diagnosis.other.id,
        "ask": diagnosis.ask,
    }


FOUND_BY_THE_PAGE = """async (texts) => {
  const { explain } = await import(new URL("assets/doctor.js", document.baseURI));
  const catalog = await (await fetch("assets/catalog.json")).json();
  return texts.map((text) => {
    const { message, other, ...rest } = explain(catalog, text);
    return { ...rest, message: message && message.id, other: other && other.id };
  });
}"""


def differences(page, texts):
    """What the page says otherwise than Python, by the name of the text: its answer, then Python's."""
    answers = page.evaluate(FOUND_BY_THE_PAGE, list(texts.values()))
    both = {name: (answer, found_by_python(texts[name])) for name, answer in zip(texts, answers, strict=True)}
    return {name: pair for name, pair in both.items() if pair[0] != pair[1]}


def test_the_page_finds_what_python_finds_in_every_text_of_the_catalog(visit):
    texts = {}
    for message in load().messages.values():
        for number, text in enumerate([*message.texts, *message.examples]):
            texts[f"{message.id}, text {number}"] = text["text"]
    assert differences(visit(), texts) == {}


def test_the_page_finds_what_python_finds_in_awkward_pastes(visit):
    assert differences(visit(), AWKWARD) == {}


def test_the_page_finds_what_python_finds_in_tracebacks_of_every_form(visit):
    doctor = ROOT / "tests" / "doctor"
    files = [*doctor.glob("text/tracebacks/*.txt"), *doctor.glob("golden/*.paste")]
    texts = {file.name: file.read_text(encoding="utf-8") for file in files}
    texts |= enumerate(
        re.split(r"^====.*\n", (doctor / "not_device_errors.txt").read_text(encoding="utf-8"), flags=re.M)
    )
    assert len(texts) > 20
    assert differences(visit(), texts) == {}


def test_the_awkward_pastes_reach_messages_other_errors_places_and_nothing():
    found = {name: found_by_python(text) for name, text in AWKWARD.items()}
    assert sum(bool(one["message"]) for one in found.values()) > 30
    assert found["wrapped inside words"]["message"] == found["a traceback"]["message"]
    assert found["out of memory"]["other"]
    assert not found["what it is not about"]["message"]
    assert sum(bool(one["place"]) for one in found.values()) > 15


@pytest.mark.skipif(not REPORTS.exists(), reason="needs the real reports, which are not part of the project")
def test_the_page_finds_what_python_finds_in_real_reports(visit):
    texts = {}
    for line in REPORTS.read_text(encoding="utf-8").splitlines():
        report = json.loads(line)
        lines = ["Traceback (most recent call last):"] if report["frames"] else []
        for frame in report["frames"]:
            file, _, rest = frame.partition(":")
            function, _, code = rest.partition(":")
            lines += [f'  File "{file.strip()}", line 1, in {function.strip() or "<module>"}', f"    {code.strip()}"]
        texts[report["id"]] = "\n".join([*lines, report["message"]])
    assert len(texts) > 100
    assert differences(visit(), texts) == {}
