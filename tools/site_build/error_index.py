"""The list of all messages, made from the catalog through templates/catalog/messages.md.jinja: the commonest first."""

import re

from samedevice.catalog import Message, load
from samedevice.doctor.pages.wordings import usual_text
from site_build.apart import devices_of, shape
from site_build.front_matter import front_matter
from site_build.templating import templates

INDEX = "errors/index.md"

_OLD = "legacy"
_COMMON = 5  # reports of a message that stands above all groups


def error_index() -> str:
    """Return the Markdown of the page."""
    groups = _groups()
    common = [message for name, _, messages in groups for message in messages if name != _OLD and _is_common(message)]
    return (
        templates()
        .get_template("catalog/messages.md.jinja")
        .render(
            front_matter=front_matter(
                "All PyTorch device errors",
                "Find your message among all that PyTorch says about devices, with its cause and the lines to change.",
            ),
            reports=sum(message.reports for message in load().messages.values()),
            common=sorted(common, key=_by_reports),
            groups=[(name, heading, _without(messages, common)) for name, heading, messages in groups],
            old=_OLD,
            meaning=_meaning,
            shapes=_shapes,
        )
    )


def _groups() -> list[tuple[str, str, list[Message]]]:
    """Return the name of each subject, its heading, and its messages, the most reported first."""
    groups = []
    for subject in load().subjects.values():
        messages = [message for message in load().messages.values() if message.subject == subject.name]
        if messages:
            groups.append((subject.name, subject.heading, sorted(messages, key=_by_reports)))
    return sorted(groups, key=lambda group: (group[0] == _OLD, -sum(message.reports for message in group[2]), group[0]))


def _is_common(message: Message) -> bool:
    return message.reports >= _COMMON


def _by_reports(message: Message) -> tuple[float, str]:
    return -message.reports, message.id


def _without(messages: list[Message], others: list[Message]) -> list[Message]:
    return [message for message in messages if message not in others]


def _meaning(message: Message) -> str:
    """Return the catalog's title where it is not PyTorch's words, but says what they mean."""
    title, text = (set(re.findall(r"\w+", words.lower())) for words in (message.title, usual_text(message)))
    return "" if len(title - text) < 3 else message.title


def _shapes(message: Message) -> list[str]:
    """Return the classes of the two devices that the message names."""
    return [shape(device) for device in devices_of(usual_text(message))]
