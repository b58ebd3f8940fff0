"""The page of a cause as text: `samedevice explain input_not_moved` prints it where there is no network."""

from collections.abc import Iterator

from samedevice.catalog import Cause, Message, load
from samedevice.doctor.outline import change, lesson_path
from samedevice.doctor.pages.message_causes import cases_of, causes_of, messages_of
from samedevice.doctor.pages.paragraphs import block, heading, items, joined, paragraph
from samedevice.doctor.report import EXAMPLE
from samedevice.doctor.site_addresses import page_on_site


def cause_page(cause: Cause, width: int) -> str:
    """Write all that the site's page of a cause holds, in lines of at most `width` columns; code is never broken.

    Example:
        >>> from samedevice.catalog import load
        >>> cause_page(load().causes["input_not_moved"], 88).startswith("The batch stayed on the CPU (input_not_moved)")
        True
    """
    wider, cases = load().causes.get(cause.within), cases_of(cause)
    parts = [
        heading(f"{cause.title} ({cause.id})", width),
        *about(cause, width),
        *([paragraph("A case of:", width), items([_row(wider)], width)] if wider else []),
        *([paragraph("Cases of it:", width), items(map(_row, cases), width)] if cases else []),
        paragraph("Messages it can cause:", width),
        items(((f"{message.id}: {message.title}", "") for message in _messages(cause)), width),
        paragraph(f"On the site: {address}", width) if (address := page_on_site(f"causes/{cause.id}/")) else "",
    ]
    return joined(parts)


def about(cause: Cause, width: int, because: str = "") -> Iterator[str]:
    """Yield the lines to change, why they fail, how to check that it is this cause, and where to read on.

    Args:
        cause: the cause.
        width: how many columns.
        because: why it is likely, where that is known.
    """
    yield "" if cause.commands else EXAMPLE
    yield block(change(cause))
    yield paragraph(f"Why: {cause.why}", width)
    yield paragraph(f"Check: {cause.confirm}", width)
    if because:
        yield paragraph(f"Why we think so: {because}", width)
    if cause.link:
        yield paragraph(f"Read on: {cause.link}", width)
    where = page_on_site(lesson_path(cause)) or f"notebooks/{cause.lesson}.ipynb"
    yield paragraph(f'Lesson: "{load().lessons[cause.lesson].title}", {where}', width)


def _row(cause: Cause) -> tuple[str, str]:
    return f"{cause.id}: {cause.title}", ""


def _messages(cause: Cause) -> list[Message]:
    possible = [message for message in load().messages.values() if any(each.id == cause.id for each in message.causes)]
    return messages_of(cause, {message.id: causes_of(message) for message in possible})
