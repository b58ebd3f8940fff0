"""A page for each message of PyTorch's, made from the catalog through templates/catalog/message.md.jinja.

A reader who comes with an error first reads what it says, in the words of each release, then the most likely cause and
the lines to change. The other causes are rows that lead to pages of their own (cause_pages); the id of a cause is the
anchor of its row. In search, search_entries stands for the pages.
"""

import re

from samedevice.catalog import Message, load
from samedevice.doctor.pages.message_causes import Causes
from samedevice.doctor.pages.wordings import wordings
from site_build.escaping import escaped, sentences
from site_build.front_matter import beginning, described, front_matter
from site_build.templating import templates

_SOURCE = re.compile(r"(?<![\w/])(?:aten|c10|torch|torchgen)/[\w./-]+\.\w+")  # a file of PyTorch's repository
_MAIN = "https://github.com/pytorch/pytorch/blob/main/"
_GONE = {  # from there, since the message was of use
    "aten/src/ATen/native/TensorIterator.cpp",
    "aten/src/THC/THCGeneral.h.in",
    "aten/src/THCUNN/common.h",
    "torch/csrc/cudnn/Exceptions.h",
}


def error_pages(causes: dict[str, Causes]) -> dict[str, str]:
    """Return the Markdown of each page, by its place among the files of the site.

    Args:
        causes: the causes that each message's page lists, by the id of the message.
    """
    messages = load().messages
    return {f"errors/{name.lower()}.md": _page(messages[name], listed) for name, listed in causes.items()}


def _page(message: Message, causes: Causes) -> str:
    shown, folded = wordings(message.texts)
    title = f"{beginning(message.texts[0]['text'], 70)} ({message.id})"
    return (
        templates()
        .get_template("catalog/message.md.jinja")
        .render(
            front_matter=front_matter(title, _description(message, causes)),
            message=message,
            heading=_breakable(message.title),
            shown=shown,
            folded=folded,
            causes=causes,
            raised=_raised(message.raised),
        )
    )


def _description(message: Message, causes: Causes) -> str:
    named = f"{message.id}: {message.title}"
    if causes.first is None:
        return described([named], f"{causes.says} This page says what PyTorch means, and lists the causes.")
    cause = causes.first.cause
    return described([named, f"Most likely: {cause.title}"], cause.why)


def _breakable(title: str) -> str:
    """Let names break after an underscore: a phone's screen is narrower than some."""
    return escaped(title).replace("&#95;", "&#95;<wbr>")


def _raised(place: str) -> str:
    """Return where PyTorch raises it, with links to its files."""
    marked = sentences(_SOURCE.sub(r"`\g<0>`", place))
    return re.sub("`(.+?)`", lambda file: file[0] if file[1] in _GONE else f"[{file[0]}]({_MAIN}{file[1]})", marked)
