"""A page for each message of PyTorch's, made from the catalog through templates/catalog/message.md.jinja.

A reader who comes with an error finds his words in the heading, then what is where, the most likely cause, the lines to
change and the lesson that runs them. Of the other causes, the likeliest have a row of a table, with what they look like
and the change; all others are rows that lead to pages of their own (cause_pages). The id of a cause is the anchor of
its row. The words of other releases come last. In search, search_entries stands for the pages.
"""

import re

from samedevice.catalog import Cause, Message, load
from samedevice.doctor.outline import change
from samedevice.doctor.pages.message_causes import Causes, Group
from samedevice.doctor.pages.wordings import Wordings, usual_text, wordings
from site_build.apart import apart, example_picture
from site_build.escaping import escaped, sentences
from site_build.front_matter import described, front_matter
from site_build.lesson_card import lesson_card
from site_build.said import said
from site_build.templating import templates

_SOURCE = re.compile(r"(?<![\w/])(?:aten|c10|torch|torchgen)/[\w./-]+\.\w+")  # a file of PyTorch's repository
_MAIN = "https://github.com/pytorch/pytorch/blob/main/"
_GONE = {  # from there, since the message was of use
    "aten/src/ATen/native/TensorIterator.cpp",
    "aten/src/THC/THCGeneral.h.in",
    "aten/src/THCUNN/common.h",
    "torch/csrc/cudnn/Exceptions.h",
}


_ROWS = 2  # causes in the table, beside the likeliest


def error_pages(causes: dict[str, Causes], repository: str | None) -> dict[str, str]:
    """Return the Markdown of each page, by its place among the files of the site.

    Args:
        causes: the causes that each message's page lists, by the id of the message.
        repository: the address of the repository on GitHub, whose lessons Colab opens.
    """
    messages = load().messages
    return {f"errors/{name.lower()}.md": _page(messages[name], listed, repository) for name, listed in causes.items()}


def _page(message: Message, causes: Causes, repository: str | None) -> str:
    text, heading = usual_text(message), said(message)
    picture = apart(text)
    first = causes.first.cause if causes.first else None
    table, groups = _table(message, causes)
    return (
        templates()
        .get_template("catalog/message.md.jinja")
        .render(
            front_matter=front_matter(f"PyTorch: {heading}", _description(message, causes)),
            message=message,
            heading=_breakable(heading),
            apart=picture,
            picture=example_picture(first) if first and not picture else "",
            card=lesson_card(first, repository) if first else "",
            causes=causes,
            table=table,
            groups=groups,
            named=[group.anchor for group in causes.by_devices],
            wordings=_wordings(message, is_whole=text.strip() == heading),
            raised=_raised(message.raised),
        )
    )


def _table(message: Message, causes: Causes) -> tuple[list[tuple[Cause, str, str]], list[Group]]:
    """Return the rows of the likeliest other causes, and the groups without them.

    A row has the cause, the line that fails and the first line that comes in its place. A cause whose lines raise a
    message of another kind, or that has commands, stays among the groups.
    """
    rows: list[tuple[Cause, str, str]] = []
    for row in causes.groups[0].rows if causes.groups else []:
        lines = change(row.cause) if _is_alike(message, row.cause) else []
        gone, come = ([line[2:].strip() for line in lines if line.startswith(sign)] for sign in "-+")
        come = [line for line in come if line and not line.startswith("#")]
        if gone and come and len(rows) < _ROWS:
            rows.append((row.cause, _code(gone[0]), _code(come[0])))
    shown = {cause.id for cause, _, _ in rows}
    groups = [
        Group(group.anchor, group.name, [row for row in group.rows if row.cause.id not in shown])
        for group in causes.groups
    ]
    return rows, [group for group in groups if group.rows]


def _is_alike(message: Message, cause: Cause) -> bool:
    """Tell whether the cause's example raises this message, or one of the same subject or with the same causes."""
    raised = load().messages.get(cause.raises)
    return raised is not None and (raised.subject == message.subject or raised.base == message.base != "")


def _code(line: str) -> str:
    return line.split("  #")[0].rstrip()


def _wordings(message: Message, *, is_whole: bool) -> Wordings:
    """Return the texts of each release: all of them, unless the heading is the only one already."""
    shown, folded = wordings(message.texts)
    every = [*shown, *folded]
    return [] if is_whole and len({text["text"] for text in message.texts}) == 1 else every


def _description(message: Message, causes: Causes) -> str:
    if causes.first is None:
        return described([causes.says], "What PyTorch means by it, and how to find the cause.")
    likely = described([f"Most likely: {causes.first.cause.title}"])
    explained = described([likely], causes.says)
    about = f"{message.title}." if explained == likely else ""  # what it says is too long
    return described([explained], about, "The lines to change, and how to check it first.")


def _breakable(title: str) -> str:
    """Let names break after an underscore: a phone's screen is narrower than some."""
    return escaped(title).replace("&#95;", "&#95;<wbr>")


def _raised(place: str) -> str:
    """Return where PyTorch raises it, with links to its files."""
    marked = sentences(_SOURCE.sub(r"`\g<0>`", place))
    return re.sub("`(.+?)`", lambda file: file[0] if file[1] in _GONE else f"[{file[0]}]({_MAIN}{file[1]})", marked)
