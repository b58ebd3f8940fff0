"""The catalog as the browser's doctor reads it: one JSON object, made when the site is built."""

from dataclasses import asdict
from typing import Any

from samedevice.catalog import load
from samedevice.catalog.patterns import glued, javascript, needle
from samedevice.doctor.outline import change, lesson_path
from samedevice.doctor.text.typed import ASKING, phrases
from samedevice.doctor.text.whose import HUB


def exported() -> dict[str, Any]:
    """Return what docs/assets/doctor.js needs: patterns as JavaScript writes them, all in the catalog's order.

    Addresses are left to the page, which knows where it stands.
    """
    catalog = load()
    return {
        "messages": [
            {
                "id": message.id,
                "title": message.title,
                "subject": message.subject,
                "layers": [{"when": layer.when, "says": layer.says} for layer in message.layers],
                "says": message.says,
                "note": message.note,
                "ask": message.ask,
                "base": message.base,
                "patterns": [_pattern(pattern) for pattern in message.patterns],
                "causes": [
                    {"id": cause.id, "points": cause.points, "when": cause.when, "because": cause.because}
                    for cause in message.causes
                ],
            }
            for message in catalog.messages.values()
        ],
        "phrases": [(list(catalog.messages).index(message), phrase) for message, phrase in phrases()],
        "asking": ASKING,
        "clues": [
            {
                "pattern": javascript(clue.pattern),
                "causes": clue.causes,
                "because": clue.because,
                "where": clue.where,
                "messages": clue.messages,
                "unless": javascript(clue.unless),
            }
            for clue in catalog.clues
        ],
        "causes": {
            cause.id: {
                "title": cause.title,
                "why": cause.why,
                "change": change(cause),
                "sign": cause.sign,
                "confirm": cause.confirm,
                "confirm_read": cause.confirm_read,
                "link": cause.link,
                "within": cause.within,
                "lesson": lesson_path(cause),
                "between": cause.between,
            }
            for cause in catalog.causes.values()
        },
        "operations": {
            function: {
                "arguments": operation.arguments,
                "op": javascript(operation.op),
                "elementwise": operation.elementwise,
                "keywords": operation.keywords,
            }
            for function, operation in catalog.operations.items()
        },
        "devices": asdict(catalog.devices),
        "applications": [
            {
                "name": each.name,
                "part": each.part,
                "path": javascript(each.path),
                "named": javascript(each.named),
                "why": each.why,
                "tries": each.tries,
                "report": each.report,
            }
            for each in catalog.applications
        ],
        "hub": HUB,
        "libraries": {
            library.name: {"report": library.report, "pip": library.pip, "known": library.known}
            for library in catalog.libraries.values()
        },
        "other": [
            {
                "id": other.id,
                "title": other.title,
                "says": other.says,
                "link": other.link,
                "patterns": [_pattern(pattern) for pattern in other.patterns],
            }
            for other in catalog.other.values()
        ],
    }


def _pattern(pattern: str) -> list[str]:
    """Return a pattern, the same for text whose line ends were cut out, and the words that such text contains."""
    return [javascript(pattern), javascript(glued(pattern)), needle(pattern)]
