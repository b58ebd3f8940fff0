"""The list of all messages, made from the catalog through templates/catalog/messages.md.jinja: the commonest first."""

import tomllib
from importlib import resources

from samedevice.catalog import Message, load
from site_build.build_error import BuildError
from site_build.front_matter import beginning, front_matter
from site_build.templating import templates

INDEX = "errors/index.md"

_HEADINGS = {  # by the file of the catalog that has the messages
    "common-device": "Expected all tensors to be on the same device",
    "layers": "Layers with a check of their own",
    "indexing": "Indexing, joining, out=",
    "gradients": "Gradients and optimizers",
    "numpy": "NumPy and old constructors",
    "data": "Random generators, pinned memory, workers",
    "machine": "The machine, the build, the process",
    "loading": "Loading a file",
    "parallel": "DataParallel and distributed training",
    "compile": "torch.compile, tracing, the meta device",
    "libraries": "Libraries",
    "legacy": "What torch 0.1 to 1.8 said",
}
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
    """Return the name of each file of messages, its heading, and its messages, the most reported first."""
    groups = []
    for file in (resources.files("samedevice.catalog") / "messages").iterdir():
        rows = tomllib.loads(file.read_text(encoding="utf-8"))["message"]
        name = file.name.removesuffix(".toml")
        if name not in _HEADINGS:
            raise BuildError(f"{file.name} has no heading in the error index: name one in {__name__}.")
        messages = sorted((load().messages[row["id"]] for row in rows), key=_by_reports)
        groups.append((name, _HEADINGS[name], messages))
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
