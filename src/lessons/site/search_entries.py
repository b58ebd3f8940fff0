"""How search finds what was pasted: an entry for each text of a message, and entries that are weighed by their length.

The error below a lesson's name has an entry of its own. A claim among the myths is found too, by what is said and what
is true; not by its proof, which quotes errors. And who has no message types a few plain words, such as "dataloader
cuda": search_topics.toml has them for each page, and a lesson has its own as `tags` in the notebook's metadata.

Search scores the words that an entry shares with a query, each taken for the beginning of others too, and does not ask
how many words the entry has besides: the longest would win. `boost` makes up for that.
"""

import html
import json
import re
import tomllib
from importlib import resources
from pathlib import Path

from samedevice.catalog import Message, load

_WEIGHT = 0.5  # with less, lessons come before the page of the very text; with more, whatever is short before both
_SHORT = 12  # words: of entries shorter than that, whatever they share with a sentence would come first
_CLAIM = 0.47  # of a claim: with less, whatever shares more words with it comes first; with more, it before a lesson
_TOPICS = 0.4  # of an entry of topics: with less, short messages come before them; with more, they before a message


def finish_search(index: Path, error_index: bool, notebooks: Path) -> None:
    """Complete the index that Material's plugin has written of all pages but those of the error index."""
    data = json.loads(index.read_text(encoding="utf-8"))
    if error_index:
        data["docs"] += [entry for message in load().messages.values() for entry in _entries(message)]
    for entry in data["docs"]:
        entry["boost"] = _boost(entry["text"])
    titles = {entry["location"]: entry["title"] for entry in data["docs"]}
    data["docs"] += _first_errors(titles, notebooks)
    data["docs"] += _claims() if error_index else []
    data["docs"] += _topics({entry["location"]: entry["title"] for entry in data["docs"]}, notebooks)
    index.write_text(json.dumps(data, separators=(",", ":")), encoding="utf-8")


def _entries(message: Message) -> list[dict[str, object]]:
    texts = dict.fromkeys(text["text"] for text in message.texts)
    # People paste "RuntimeError: " as well. The texts do not say whose they are; the examples do.
    names = set(re.findall(r"\b([A-Z]\w+Error): ", " ".join(example["text"] for example in message.examples)))
    name = f"{names.pop()}: " if len(names) == 1 else ""
    return [
        {
            # Each entry has a location of its own. With a `#` in it, it would count for less than a page.
            "location": f"errors/{message.id.lower()}/{f'?{number}' if number > 1 else ''}",
            "title": f"{html.escape(message.title)} ({message.id})",
            "text": f"<p>{html.escape(text if text.startswith(name) else name + text, quote=False)}</p>",
        }
        for number, text in enumerate(texts, 1)
    ]


def _first_errors(titles: dict[str, str], notebooks: Path) -> list[dict[str, object]]:
    """An entry for the error that stands below a lesson's name: the page is long, and would come after short ones."""
    entries: list[dict[str, object]] = []
    for path in sorted(notebooks.glob("*.ipynb")):
        place = f"notebooks/{path.stem}/"
        cells = json.loads(path.read_text("utf-8"))["cells"]
        error = re.match(r"# .*\n\n```text\n(.+)\n```", "".join(cells[0]["source"])) if cells else None
        if error and place in titles:
            text = f"<p>{html.escape(error[1], quote=False)}</p>"
            entries.append({"location": f"{place}?error", "title": titles[place], "text": text, "boost": _boost(text)})
    return entries


def _boost(text: str) -> float:
    # Of names such as tensor_split each part, since search finds the parts' beginnings.
    words = re.findall(r"[^\W_]+", re.sub(r"<[^>]+>", " ", text))
    return round(max(len(words), _SHORT) ** -_WEIGHT, 4)


def _claims() -> list[dict[str, object]]:
    """The page of myths, of which search takes its sections to be a part, and each claim as a section of it."""
    page: dict[str, object] = {"location": "myths/", "title": "Myths", "text": "<p>What is said of device errors.</p>"}
    sections: list[dict[str, object]] = [
        {
            "location": f"myths/#{claim.id}",
            "title": html.escape(claim.claim.replace("`", "")),
            "text": f"<p>{html.escape(claim.truth.replace('`', ''), quote=False)}</p>",
            "boost": _CLAIM,
        }
        for claim in load().claims.values()
    ]
    return [page, *sections]


def topics(notebooks: Path) -> dict[str, list[str]]:
    """What people type, by the page that they want."""
    pages = tomllib.loads(resources.files("lessons.site").joinpath("search_topics.toml").read_text(encoding="utf-8"))
    metadata = {
        path.stem: json.loads(path.read_text("utf-8"))["metadata"] for path in sorted(notebooks.glob("*.ipynb"))
    }
    return pages | {f"notebooks/{lesson}/": about.get("tags", []) for lesson, about in metadata.items()}


def _topics(titles: dict[str, str], notebooks: Path) -> list[dict[str, object]]:
    """An entry for each page with its topics; `titles` are those of the pages, by their locations."""
    return [
        {
            "location": f"{page}?topics",
            "title": titles[page],
            "text": f"<p>{html.escape('; '.join(phrases), quote=False)}</p>",
            "boost": _TOPICS,
        }
        for page, phrases in topics(notebooks).items()
        if page in titles and phrases
    ]
