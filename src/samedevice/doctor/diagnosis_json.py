"""A diagnosis as data for machines, in the form that docs/assets/diagnosis.schema.json describes.

Whoever reads it can rely on what the schema has: a key that goes, or comes to mean something else, raises SCHEMA.
"""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from samedevice.doctor.site_addresses import error_page

if TYPE_CHECKING:
    from samedevice.catalog import Message
    from samedevice.doctor.diagnosis import Culprit, Diagnosis
    from samedevice.doctor.text.traceback import Frame

SCHEMA = 1


def as_data(diagnosis: "Diagnosis") -> dict[str, Any]:
    """Return a diagnosis as what JSON can hold.

    Args:
        diagnosis: what `explain` returned.

    Example:
        >>> from samedevice import explain
        >>> data = as_data(explain("RuntimeError: indices should be either on cpu or on the same device"))
        >>> data["schema"], data["message"]["id"], data["culprits"]
        (1, 'SD030', [])
    """
    message, other, place = diagnosis.message, diagnosis.other, diagnosis.place
    return {
        "schema": SCHEMA,
        "message": message and _message(message),
        "says": diagnosis.says,
        "reads": dict(diagnosis.reads),
        "place": place and _place(place),
        "culprits": [_culprit(culprit, diagnosis) for culprit in diagnosis.culprits],
        "certain": diagnosis.is_certain,
        "tell": diagnosis.tell,
        "ways": [asdict(way) for way in diagnosis.ways],
        "owner": diagnosis.owner and asdict(diagnosis.owner),
        "causes": [
            {name: getattr(cause, name) for name in ("id", "case", "title", "because", "why", "fix", "lesson")}
            for cause in diagnosis.causes
        ],
        "others": [
            {"message": _message(each.message), "place": each.place and _place(each.place)} for each in diagnosis.others
        ],
        "last": diagnosis.last,
        "other": other and {"id": other.id, "title": other.title, "page": other.link or None},
        "ask": diagnosis.ask,
    }


def _message(message: "Message") -> dict[str, Any]:
    return {"id": message.id, "title": message.title, "page": error_page(message.id)}


def _place(place: "Frame") -> dict[str, Any]:
    return {name: getattr(place, name) for name in ("file", "line", "function", "code")}


def line_of(culprit: "Culprit", diagnosis: "Diagnosis") -> tuple[str, int]:
    """Return the file and the line that a culprit is about: the line to change, else the line that failed."""
    if culprit.edits:
        return culprit.edits[0].file, culprit.edits[0].line
    return (diagnosis.place.file, diagnosis.place.line) if diagnosis.place else ("", 0)


def _culprit(culprit: "Culprit", diagnosis: "Diagnosis") -> dict[str, Any]:
    file, line = line_of(culprit, diagnosis)
    names = ("expression", "device", "shape", "cause", "case", "sentence", "fix", "instead")
    return {
        **{name: getattr(culprit, name) for name in names},
        "file": file,
        "line": line,
        "edits": [asdict(edit) for edit in culprit.edits],
    }
