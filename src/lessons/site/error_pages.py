"""The error index as Markdown, made from the catalog: a page for each message of PyTorch's, and the list of them all.

Whoever comes with an error reads first what it says, the likeliest cause and the lines to change; where the message is
raised, and how other releases word it, come after the causes. The heading of each cause has the cause's id as its
anchor. In search, search_entries stands for the pages.
"""

import html
import itertools
import json
import re
import textwrap
import tomllib
from importlib import resources

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import Files

from lessons.site.escaping import escaped, fence, sentences
from samedevice import explain
from samedevice.catalog import Cause, Message, load
from samedevice.doctor.report import change

INDEX = "errors/index.md"

_HEADINGS = {  # of the index, by the file of the catalog that has the messages
    "common-device": "Expected all tensors to be on the same device",
    "legacy": "What torch 0.1 to 1.8 said",
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
}
_SHORT = 300  # characters of older wordings that are shown unfolded
_SOURCE = re.compile(r"(?<![\w/])(?:aten|c10|torch|torchgen)/[\w./-]+\.\w+")  # a file of PyTorch's repository
_MAIN = "https://github.com/pytorch/pytorch/blob/main/"
_GONE = {  # from there, since the message was of use
    "aten/src/ATen/native/TensorIterator.cpp",
    "aten/src/THC/THCGeneral.h.in",
    "aten/src/THCUNN/common.h",
    "torch/csrc/cudnn/Exceptions.h",
}


def error_pages(site: Files) -> dict[str, str]:
    """The Markdown of each page, by its place among the files of the site, to whose lessons the pages link."""
    messages = load().messages.values()
    pages = {f"errors/{message.id.lower()}.md": _message_page(message, site) for message in messages}
    return {INDEX: _index_page(), **pages}


def _index_page() -> str:
    parts = [
        _front_matter(
            "Error index",
            "What PyTorch says about devices, text by text: what each means, its causes and the lines to change.",
        ),
        "# Error index",
        "What PyTorch says about devices, text by text. [Paste yours](../index.md) to be led to its page.\n{ .lead }",
    ]
    groups = _groups()
    leads = (f"[{group} ({len(messages)})](#{name})" for name, group, messages in groups)
    parts.append(f"{' '.join(leads)}\n{{ .groups }}")
    for name, group, messages in groups:
        parts.append(f"## {group} {{ #{name} }}")
        for message in messages:
            text = message.texts[0]["text"]
            lines = [f"**[{escaped(message.title)}]({message.id.lower()}.md)** <small>{message.id}</small>"]
            if text != message.title:
                lines.append(f"`{_beginning(text, 90)}`")
            parts.append("<br>\n".join([*lines, sentences(explain(text).says)]))
    return "\n\n".join(parts) + "\n"


def _groups() -> list[tuple[str, str, list[Message]]]:
    """The name of each file of messages, its heading, and the messages in the order of their ids."""
    groups = []
    for file in (resources.files("samedevice.catalog") / "messages").iterdir():
        rows = tomllib.loads(file.read_text(encoding="utf-8"))["message"]
        name = file.name.removesuffix(".toml")
        if name not in _HEADINGS:
            raise PluginError(f"{file.name} has no heading in the error index: name one in {__name__}.")
        groups.append((name, _HEADINGS[name], [load().messages[row["id"]] for row in rows]))
    return sorted(groups, key=lambda group: group[2][0].id)


def _message_page(message: Message, site: Files) -> str:
    newest = message.texts[0]["text"]
    diagnosis = explain(newest)
    further = _further(message, [likely.cause.id for likely in diagnosis.causes])
    said, others_said = _wordings(message.texts)
    parts = [
        _front_matter(
            f"{_beginning(newest, 70)} ({message.id})",
            f"{message.title}: what PyTorch means, the causes in their order, and for each the lines to change.",
        ),
        f"# {_breakable(message.title)} <small>({message.id})</small> {{ #{message.id.lower()} }}",
        *said,
        f"{sentences(diagnosis.says)}\n{{ .lead }}",
    ]
    if diagnosis.causes:
        first, *others = diagnosis.causes
        parts.append(f"## {'Causes, likeliest first' if others else 'The cause'} {{ #causes }}")
        parts += _cause(first.cause, "What speaks for it", first.because, site)
        parts.append(_not_this_one([other.cause for other in others], bool(further)))
        for likely in others:
            parts += _cause(likely.cause, "What speaks for it", likely.because, site)
    else:
        parts.append("[Paste yours](../index.md), with its traceback, to see which cause is likely.")
    parts.append("## About the message { #message }")
    if message.note:
        parts.append(f"**Note:** {sentences(message.note)}")
    parts.append(f"**Raised in** {_raised(message.raised)}")
    parts += others_said
    parts.append("Another message? Look through [all errors](index.md).")
    if further:
        parts.append("## Further causes { #further-causes }")
        parts.append("Rarer, or likely only where the message names something else or the traceback speaks for it.")
        for cause, because in further:
            parts += _cause(cause, "Likely where", because, site)
    return "\n\n".join(parts) + "\n"


def _breakable(title: str) -> str:
    """A phone's screen is narrower than some names: they may break after an underscore."""
    return escaped(title).replace("&#95;", "&#95;<wbr>")


def _not_this_one(others: list[Cause], further: bool) -> str:
    """Below the likeliest cause: how to tell which it is, and the way to each of the others."""
    to = [f"[{sentences(cause.title)}](#{cause.id})" for cause in others]
    to += ["[Further causes](#further-causes)"] * further
    go = ["- " + way for way in to]
    ask = "**Not this one?** [Paste yours](../index.md), with its traceback, to see which cause is likely"
    return "\n".join([f"{ask}, or go on:" if go else f"{ask}.", "{ .not-this-one }", "", *go]).rstrip()


def _wordings(texts: list[dict[str, str]]) -> tuple[list[str], list[str]]:
    """The texts, each once, under the releases that have it: the newest, and the others, folded if they are long."""
    releases: dict[str, list[str]] = {}
    for text in texts:
        releases.setdefault(text["text"], []).append(text["torch"])
    shown = []
    for torch, same in itertools.groupby(releases, key=lambda text: releases[text]):
        shown += [f"{_release(torch)}\n{{ .release }}", *(fence(text, "text") for text in same)]
    if sum(map(len, releases)) - len(texts[0]["text"]) <= _SHORT:
        return shown[:2], shown[2:]
    return shown[:2], ['<details markdown="1">\n<summary>Other wordings</summary>', *shown[2:], "</details>"]


def _release(torch: list[str]) -> str:
    """The line above a text; what the catalog calls a release may be "any", "2.13.0", "up to 1.13" or "torch_npu"."""
    name = ", as in ".join(torch)
    if name == "any":
        return "Any release:"
    return escaped(name if name.startswith("torch") else f"torch{' ' if name[0].isdigit() else ', '}{name}") + ":"


def _further(message: Message, shown: list[str]) -> list[tuple[Cause, tuple[str, ...]]]:
    """The message's other causes, each with what speaks for it in the first example that can have it."""
    found: dict[str, tuple[str, ...]] = {}
    for example in message.examples:
        for likely in explain(example["text"]).causes:
            found.setdefault(likely.cause.id, likely.because)
    ids = dict.fromkeys(possible.id for possible in message.causes if possible.id not in shown)
    return [(load().causes[id], found.get(id, ())) for id in ids]


def _cause(cause: Cause, label: str, because: tuple[str, ...], site: Files) -> list[str]:
    lesson = site.get_file_from_path(f"notebooks/{cause.lesson}.ipynb")
    failure = f"#{cause.failure}" if cause.failure else ""
    return [
        f"### {sentences(cause.title)} {{ #{cause.id} .cause }}",
        _lines_to_change(cause),
        sentences(cause.why),
        *([f"**{label}:** {sentences(' '.join(because))}"] if because else []),
        f"**Make sure:** {sentences(cause.confirm)}",
        *([f"**Read on:** <{cause.link}>"] if cause.link else []),
        *(
            [f"**Lesson:** [{escaped(load().lessons[cause.lesson].title)}](../{lesson.src_uri}{failure})"]
            if lesson
            else []
        ),
    ]


def _lines_to_change(cause: Cause) -> str:
    """The lines as the paste box shows them: they wrap, so that a phone has the end of the new line too."""
    tags = {"-": "del", "+": "ins"}
    lines = [(tags.get(line[:1], "span"), html.escape(line, quote=False)) for line in change(cause)]
    marked = "".join(f"<{tag}>{line}\n</{tag}>" for tag, line in lines)
    return f'<pre class="change no-copy"><code>{marked}</code></pre>'


def _raised(place: str) -> str:
    """Where PyTorch raises it, with links to its files."""
    marked = sentences(_SOURCE.sub(r"`\g<0>`", place))
    return re.sub("`(.+?)`", lambda file: file[0] if file[1] in _GONE else f"[{file[0]}]({_MAIN}{file[1]})", marked)


def _beginning(text: str, width: int) -> str:
    return textwrap.shorten(text.replace("`", "'"), width, placeholder=" …")


def _front_matter(title: str, description: str) -> str:
    # MkDocs' templates print title and description as they are, the latter inside an attribute.
    meta = {"title": html.escape(title), "description": html.escape(description), "search": {"exclude": True}}
    return "\n".join(["---", *(f"{name}: {json.dumps(value)}" for name, value in meta.items()), "---"])
