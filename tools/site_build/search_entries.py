"""The search's knowledge of each page, beside its text: what people call it, its messages, and how common they are.

Material's plugin indexes the pages' own text. The pages of errors and causes are kept out of that, because their prose
quotes other messages; each has one entry here. All of it goes into search/pages.json, with the words of
search_topics.toml that stand for one another, and docs/assets/search-worker.js reads it. These keys are ours:

    names   what people call the page (search_topics.toml; for a notebook, the `tags` in the notebook's metadata)
    said    messages that the page is about: all wordings of an error page's, the error below a lesson's name
    kind    the badge of a result: Fix, Lesson, Practice or Reference
    about   the causes that a lesson teaches
    common  from 0 to 1, how often people report the message (`reports` in the catalog)
"""

import functools
import html
import json
import math
import re
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

from samedevice.catalog import Cause, Message, load
from site_build.claims_page import PLACE

_KINDS = {
    "notebooks/practice-": "Practice",
    "practice/": "Practice",
    "notebooks/": "Lesson",
    "lessons/": "Lesson",
    "errors/": "Fix",
    "causes/": "Fix",
    "find-the-tensor/": "Fix",
}


def finish_search(index: Path, error_index: bool, notebooks: Path) -> None:
    """Complete the index that Material's plugin has written, in a file of our own; Material's keeps no entry."""
    data = json.loads(index.read_text(encoding="utf-8"))
    if error_index:
        data["docs"] += [_message(message) for message in load().messages.values()]
        data["docs"] += [_cause(cause) for cause in load().causes.values() if _has_page(cause, index.parents[1])]
        data["docs"] += _claims()
    for entry in data["docs"]:
        entry["text"] = " ".join(re.sub(r"<[^>]*>", " ", entry["text"]).split())  # the signs of HTML stay escaped
    names, said = topics(notebooks), _first_errors(notebooks)
    for entry in data["docs"]:
        place = entry["location"]
        entry["kind"] = next((kind for folder, kind in _KINDS.items() if place.startswith(folder)), "Reference")
        if found := names.get(place):
            entry["names"] = found
        if place in said:
            entry["said"] = [said[place]]
        if taught := [
            name for cause in load().causes.values() if place == f"notebooks/{cause.lesson}/" for name in _called(cause)
        ]:
            entry["about"] = taught
    _write(index.with_name("pages.json"), _data("search_topics.toml")["words"] | {"docs": data["docs"]})
    _write(index, data | {"docs": []})


def _write(file: Path, data: dict[str, Any]) -> None:
    file.write_text(json.dumps(data, separators=(",", ":")), encoding="utf-8")


def _message(message: Message) -> dict[str, Any]:
    # People paste "RuntimeError: " as well. The texts do not say whose they are; the examples do.
    errors = set(re.findall(r"\b([A-Z]\w+Error): ", " ".join(example["text"] for example in message.examples)))
    error = f"{errors.pop()}: " if len(errors) == 1 else ""
    texts = dict.fromkeys(text["text"] for text in message.texts)
    said = [text if text.startswith(error) else error + text for text in texts]
    return {
        "location": f"errors/{message.id.lower()}/",
        "title": f"{html.escape(message.title)} ({message.id})",
        "text": "".join(f"<p>{html.escape(text, quote=False)}</p>" for text in said),
        "said": said,
        "common": _common(message),
    }


def _cause(cause: Cause) -> dict[str, Any]:
    return {
        "location": f"causes/{cause.id}/",
        "title": _shown(cause.title),
        "text": f"<p>{_shown(cause.why)}</p>",
        "names": _called(cause),
    }


def _called(cause: Cause) -> list[str]:
    called: list[str] = _data("search_topics.toml")["causes"].get(cause.id, [])
    return [cause.title, *called]


def _has_page(cause: Cause, site: Path) -> bool:
    return (site / f"causes/{cause.id}/index.html").exists() or (site / f"causes/{cause.id}.html").exists()


def _claims() -> list[dict[str, Any]]:
    """Return the page of claims, and each claim as a section of it: not the proofs, which quote errors."""
    place = PLACE.removesuffix(".md")
    sections = [
        {"location": f"{place}/#{claim.id}", "title": _shown(claim.claim), "text": f"<p>{_shown(claim.truth)}</p>"}
        for claim in load().claims.values()
    ]
    about = "<p>What is said of device errors.</p>"
    return [{"location": f"{place}/", "title": "Claims checked", "text": about}, *sections]


def _shown(sentence: str) -> str:
    return html.escape(sentence.replace("`", ""), quote=False)


def _common(message: Message) -> float:
    """Return how common a message is among those that are reported: 1 for the commonest, by the count's logarithm."""
    most = max(other.reports for other in load().messages.values())
    return round(math.log1p(message.reports) / math.log1p(most), 2)


def _first_errors(notebooks: Path) -> dict[str, str]:
    """Return the error that stands below each lesson's name, by the place of the lesson's page."""
    errors = {}
    for path in sorted(notebooks.glob("*.ipynb")):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        if error := re.match(r"# .*\n\n```text\n(.+)\n```", "".join(cells[0]["source"]) if cells else ""):
            errors[f"notebooks/{path.stem}/"] = error[1]
    return errors


def topics(notebooks: Path) -> dict[str, list[str]]:
    """Return what people call each page, and type when they want it."""
    tags = {
        f"notebooks/{path.stem}/": json.loads(path.read_text("utf-8"))["metadata"].get("tags", [])
        for path in sorted(notebooks.glob("*.ipynb"))
    }
    pages = {place: names for place, names in _data("search_topics.toml").items() if place.endswith("/")}
    return pages | tags


@functools.cache
def _data(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files("site_build").joinpath(name).read_text(encoding="utf-8"))
