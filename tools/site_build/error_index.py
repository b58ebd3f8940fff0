"""The list of all messages, made from the catalog through templates/catalog/messages.md.jinja: the commonest first."""

from samedevice.catalog import Message, load
from site_build.front_matter import beginning, front_matter
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
                "What PyTorch says about devices, text by text: what each means, its causes and the lines to change.",
            ),
            common=sorted(common, key=_by_reports),
            groups=[(name, heading, _without(messages, common)) for name, heading, messages in groups],
            old=_OLD,
            words=_words,
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


def _words(message: Message) -> str:
    """Return the beginning of what PyTorch says, where the title is not these words: readers look for theirs."""
    text = message.texts[0]["text"]
    return "" if text.startswith(message.title[:12]) else beginning(text, 70)
