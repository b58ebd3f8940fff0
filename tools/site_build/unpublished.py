"""Until `make repository` was run, the project is at no address: nothing on the site leads there, and commands say so.

The owner of the repository is a placeholder then. A link to it becomes its text, which says that this is not published
yet; a command that installs from it names the reader's own copy. With an address, a placeholder that is left, as in the
first cell of a notebook, becomes the address.
"""

import re

from repository import PLACEHOLDER
from site_build.repository import leading_here

COPY = "path/to/same-device"
LOCAL = "http://127.0.0.1:8000/"  # where `make site` serves the pages, and the only address that they have

_ADDRESS = rf"https://github\.com/{PLACEHOLDER}/[\w.-]+"
_INSTALLED = re.compile(rf'(&quot;|&#34;|\\?"|)samedevice @ git\+{_ADDRESS}\1')
_USED = re.compile(rf"\b{PLACEHOLDER}/[\w.-]+@main")
_LINK = re.compile(rf'<a\b([^>]*)\bhref="?([^">]*\b{PLACEHOLDER}/[^">]*)"?([^>]*)>(.*?)</a>', re.S)
_LINK_IN_MARKDOWN = re.compile(rf"\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\b{PLACEHOLDER}/[^)]*\)")
_BLOCK_WITH_COPY = re.compile(rf"{COPY}(?:(?!</pre>).)*</pre>(?:</div>)*", re.S)
_YET = "not published yet"
_NOTE = f'<p class="unpublished">Same Device is {_YET}: <code>{COPY}</code> stands for your copy of its repository.</p>'


def is_unpublished(repository: str | None) -> bool:
    return f"/{PLACEHOLDER}/" in (repository or "")


def settled(text: str, written: str | None, repository: str | None) -> str:
    """Return the text of a file in which nothing leads to a placeholder.

    Args:
        text: HTML, Markdown or the JSON of a notebook.
        written: the address that stands in the files.
        repository: the address that the site is built for.
    """
    if not is_unpublished(written):
        return text
    if not is_unpublished(repository):
        return leading_here(text, written, repository)
    text = _USED.sub(f"./{COPY}", _INSTALLED.sub(COPY, text))
    return _LINK_IN_MARKDOWN.sub(r"\1", text)


def settled_page(page: str, written: str | None, repository: str | None) -> str:
    """Return the HTML of a page in which nothing leads to a placeholder; what a command stands for is said once."""
    page = settled(page, written, repository)
    if not is_unpublished(repository):
        return page
    page = re.sub(rf'data-repository="?{_ADDRESS}"?', 'data-repository=""', _LINK.sub(_without_link, page))
    return _BLOCK_WITH_COPY.sub(lambda block: block[0] + _NOTE, page, count=1)


def _without_link(link: re.Match[str]) -> str:
    before, address, after, text = link.groups()
    attributes = re.sub(r'\s*\b(?:title|target|rel)=(?:"[^"]*"|[^\s>]+)', "", f"{before} {after}").rstrip()
    is_button = "/blob/colab/" in address
    said = f"{text} <small>{_YET}</small>" if is_button else text
    return f'<span{attributes} title="{_YET.capitalize()}">{said}</span>'
