"""How search finds what was pasted: an entry for each text of a message, and entries that are weighed by their length.

Search scores the words that an entry shares with a query, each taken for the beginning of others too, and does not ask
how many words the entry has besides: the longest would win. `boost` makes up for that.
"""

import html
import json
import re
from pathlib import Path

from samedevice.catalog import Message, load

_WEIGHT = 0.5  # with less, lessons come before the page of the very text; with more, whatever is short before both


def finish_search(index: Path, error_index: bool) -> None:
    """Complete the index that Material's plugin has written of all pages but those of the error index."""
    data = json.loads(index.read_text(encoding="utf-8"))
    if error_index:
        data["docs"] += [entry for message in load().messages.values() for entry in _entries(message)]
    for entry in data["docs"]:
        # Of names such as tensor_split each part, since search finds the parts' beginnings.
        words = re.findall(r"[^\W_]+", re.sub(r"<[^>]+>", " ", entry["text"]))
        entry["boost"] = round((len(words) or 1) ** -_WEIGHT, 4)
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
