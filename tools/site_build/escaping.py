"""Text of the catalog as Markdown that shows it letter by letter: `*args`, `<device>` and `a|b` are not markup."""

import re

# A digit, a plus or a minus can begin a list; the other signs mean something to Markdown, its extensions or HTML.
_SPECIAL = re.compile(r"""^[\d+-]|_|[^\w .,;:!?"'()/%=+-]""", re.ASCII)


def escaped(text: str) -> str:
    """Return `text` on one line, with character references for all that could be markup.

    >>> print(escaped("1. *args, <b>"))
    &#49;. &#42;args, &#60;b&#62;
    """
    return _references(" ".join(text.split()))


def sentences(text: str) -> str:
    """Return the same for the catalog's own sentences, in which backticks mark code.

    >>> print(sentences("Print `x.device` <here>."))
    Print `x.device` &#60;here&#62;.
    """
    parts = re.split(r"(`[^`]+`)", " ".join(text.split()))
    return "".join(part if part.startswith("`") and len(part) > 1 else _references(part) for part in parts)


def fence(text: str, language: str) -> str:
    """Return a block of `text` without a copy button; its fence is longer than any that the text holds."""
    marks = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{marks} {{.{language} .no-copy}}\n{text.rstrip()}\n{marks}"


def _references(text: str) -> str:
    return _SPECIAL.sub(lambda sign: f"&#{ord(sign[0])};", text)
