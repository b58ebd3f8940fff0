"""The page of a message as text: `samedevice explain SD001` prints it where there is no network."""

from collections.abc import Iterator

from samedevice.catalog import Message
from samedevice.doctor.outline import command
from samedevice.doctor.pages.cause_page import about
from samedevice.doctor.pages.message_causes import Causes, Group, causes_of
from samedevice.doctor.pages.paragraphs import block, heading, items, joined, paragraph
from samedevice.doctor.pages.wordings import Wordings, wordings
from samedevice.doctor.site_addresses import error_page


def message_page(message: Message, width: int) -> str:
    """Write all that the site's page of a message holds, in lines of at most `width` columns; code is never broken.

    The most likely cause has its lines to change, why they fail and how to check. Each other cause is a row, and the
    command to print its page is named.

    Example:
        >>> from samedevice.catalog import load
        >>> message_page(load().messages["SD030"], 88).startswith("SD030: indices should be either on ")
        True
    """
    causes, (first, others) = causes_of(message), wordings(message.texts)
    parts = [
        heading(f"{message.id}: {message.title}", width),
        *_wordings(first, width),
        paragraph(causes.says, width),
        *_most_likely(causes, width),
        *_other_causes(causes, width),
        heading("About the message", width),
        paragraph(f"Note: {message.note}", width) if message.note else "",
        paragraph(f"Raised in: {message.raised}", width),
        *([heading("Other wordings", width), *_wordings(others, width)] if others else []),
        paragraph(f"On the site: {address}", width) if (address := error_page(message.id)) else "",
    ]
    return joined(parts)


def _wordings(groups: Wordings, width: int) -> Iterator[str]:
    for release, texts in groups:
        yield paragraph(f"{release}:", width)
        yield from (block(text.split("\n")) for text in texts)


def _most_likely(causes: Causes, width: int) -> Iterator[str]:
    if causes.first is not None:
        label = "Most likely" if causes.groups else "The cause"
        yield heading(f"{label}: {causes.first.cause.title}", width)
        yield from about(causes.first.cause, width, because=causes.first.because)


def _other_causes(causes: Causes, width: int) -> Iterator[str]:
    if not causes.groups:
        return
    yield heading("Other causes" if causes.first else "Causes", width)
    yield paragraph(f"`{command('ID')}` prints the lines to change for each of them.", width)
    for group in causes.groups:
        if len(causes.groups) > 1:
            yield paragraph(_name(group, causes), width)
        yield items(_rows(group), width)


def _name(group: Group, causes: Causes) -> str:
    if group not in causes.by_devices:
        return f"{group.name[0].upper()}{group.name[1:]}:"
    is_also = group.anchor == "mps-or-xpu" and causes.groups[0].anchor == "cpu-and-cuda"
    return f"If your message names {group.name}{': those of cpu and cuda:0, and' if is_also else ''}:"


def _rows(group: Group) -> Iterator[tuple[str, str]]:
    """Yield each cause's id and title, and what a check shows, which nothing but a traceback does of the last group."""
    for row in group.rows:
        sign = "" if group.anchor == "traceback" else row.cause.sign
        yield f"{row.cause.id}: {row.cause.title}", " ".join(filter(None, [sign, row.because]))
