"""A page as Markdown, for readers that are programs: `index.md` beside each page's `index.html`.

It is made of the page's finished HTML, so that it says what the page says, whatever the page was made of, and holds no
path of a machine that the page does not hold. The plugin mkdocs-llmstxt 0.5.1 was tried: it drops the descriptions of
pictures and the languages of code, its llms.txt has no descriptions of pages, and the build of 225 pages takes 15
seconds of the processor with it instead of 9.
"""

import re
from html.parser import HTMLParser
from urllib.parse import urljoin

_CONTROLS = {"button", "form", "input", "label", "noscript", "script", "select", "style", "textarea"}
_BOXES = {"doctor", "explorer", "headerlink"}  # what asks for a reader's own text, or leads to where it stands
_VOID = {"br", "hr", "img", "input", "wbr", "col", "source"}
_SPAN = re.compile(r"</?(?:span|wbr)\b[^>]*>")  # most tags of a page, and none says anything here
_DRAWING = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
_DESCRIPTION = re.compile(r"<(desc|title)\b[^>]*>(.*?)</\1>", re.DOTALL)
_BLOCKS = {"p", "div", "section", "article", "details", "figure", "figcaption", "summary", "dl", "dt", "dd", "nav"}
_MARKS = {"strong": "**", "b": "**", "em": "*", "i": "*"}
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}


def markdown_twin(html: str, address: str) -> str:
    """Return the Markdown of a page's content; its links are whole addresses, since the page is at `address`."""
    twin = _Twin(address)
    twin.feed(_SPAN.sub("", _DRAWING.sub(_described, html)))
    twin.end_block()
    return "\n\n".join(twin.blocks) + "\n"


def _described(drawing: re.Match[str]) -> str:
    """Return the part of a drawing that is text for those who cannot see it: its description, else its title."""
    texts = dict(_DESCRIPTION.findall(drawing[0]))
    text = texts.get("desc") or texts.get("title", "")
    return f"<p>(Picture: {text.strip()})</p>" if text else ""


class _Twin(HTMLParser):
    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address
        self.blocks: list[str] = []
        self.inline: list[str] = []  # of the block that is being read
        self.before = ""  # what a block begins with: a heading's signs
        self.lists: list[int | None] = []  # the number of the last item; None for a list without numbers
        self.item = ""  # the sign of an item, until its first block has it
        self.pre: list[str] | None = None
        self.code = ""  # the language of the next block of code
        self.links: list[tuple[str, int]] = []
        self.rows: list[list[str]] | None = None
        self.left_out: list[str] = []  # the tags inside an element that is left out
        self.in_code = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        classes = given.get("class", "").split()
        if self.left_out or tag in _CONTROLS or _BOXES & set(classes):
            if tag not in _VOID:
                self.left_out.append(tag)
        elif self.pre is not None:
            if tag == "br":
                self.pre.append("\n")
        elif tag == "pre":
            self.end_block()
            self.pre = []
            self.code = "" if {"output", "example"} & set(classes) else self.code
        elif tag in _HEADINGS:
            self.end_block()
            self.before = _HEADINGS[tag]
        elif tag in ("ul", "ol"):
            self.end_block()
            self.lists.append(0 if tag == "ol" else None)
        elif tag == "li":
            self.end_block()
            number = self.lists[-1] if self.lists else None
            if number is not None:
                self.lists[-1] = number + 1
            self.item = "- " if number is None else f"{number + 1}. "
        elif tag == "table":
            self.end_block()
            self.rows = []
        elif tag == "tr" and self.rows is not None:
            self.rows.append([])
        elif tag in ("td", "th"):
            self.inline = []
        elif tag in _BLOCKS and self.rows is None:
            self.end_block()
            languages = [name.removeprefix("language-") for name in classes if name.startswith("language-")]
            self.code = languages[0] if languages else "python" if "highlight" in classes else ""
        else:
            self._begin_inline(tag, given)

    def _begin_inline(self, tag: str, given: dict[str, str]) -> None:
        if tag in _MARKS:
            self.inline.append(_MARKS[tag])
        elif tag == "code":
            self.in_code = True
            self.inline.append("`")
        elif tag == "a" and "href" in given:
            self.links.append((urljoin(self.address, given["href"]), len(self.inline)))
        elif tag == "img":
            self.inline.append(f"![{given.get('alt', '')}]({urljoin(self.address, given.get('src', ''))})")
        elif tag == "br":
            self.inline.append(" " if self.rows is not None else "\n")

    def handle_endtag(self, tag: str) -> None:
        if self.left_out:
            if tag in self.left_out:
                while self.left_out.pop() != tag:
                    pass
        elif tag == "pre" and self.pre is not None:
            text = "".join(self.pre).rstrip()
            marks = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
            self.pre = None
            self._add(f"{marks}{self.code}\n{text.lstrip(chr(10))}\n{marks}")
            self.code = ""
        elif self.pre is not None:
            pass
        elif tag in ("ul", "ol") and self.lists:
            self.end_block()
            self.lists.pop()
        elif tag == "table" and self.rows is not None:
            self._add(_table(self.rows))
            self.rows = None
        elif tag in ("td", "th") and self.rows:
            self.rows[-1].append(self._text().replace("\n", " ").replace("|", "\\|"))
        elif tag in _HEADINGS or tag == "li" or (tag in _BLOCKS and self.rows is None):
            self.end_block()
        elif tag == "code":
            self.in_code = False
            self.inline.append("`")
        elif tag == "a" and self.links:
            address, at = self.links.pop()
            text = "".join(self.inline[at:])
            self.inline[at:] = [f"[{text.strip()}]({address})"] if text.strip() else [text]
        elif tag in _MARKS:
            self.inline.append(_MARKS[tag])

    def handle_data(self, data: str) -> None:
        if self.left_out:
            return
        if self.pre is not None:
            self.pre.append(data)
        else:
            text = data.replace("\n", " ")
            self.inline.append(text if self.in_code else text.replace("<", "\\<"))

    def _text(self) -> str:
        lines = [" ".join(line.split()) for line in "".join(self.inline).split("\n")]
        self.inline = []
        return "\n".join(line for line in lines if line.strip("* "))

    def end_block(self) -> None:
        """Add what was read as a block of its own, if it is anything."""
        text = self._text()
        if text:
            self._add(self.before + text)
            self.before = ""

    def _add(self, block: str) -> None:
        depth = len(self.lists)
        if depth:
            sign = self.item or "  "
            block = block.replace("\n", "\n" + " " * len(sign))
            block = (sign + block).replace("\n", "\n" + "  " * (depth - 1))
            block = "  " * (depth - 1) + block
        if self.item and self.blocks and re.match(r" *(?:- |\d+\. )", self.blocks[-1]):
            self.blocks[-1] += "\n" + block
        else:
            self.blocks.append(block)
        self.item = ""


def _table(rows: list[list[str]]) -> str:
    width = max(map(len, rows), default=0)
    if not width:
        return ""
    lines = ["| " + " | ".join([*row, *[""] * (width - len(row))]) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])
