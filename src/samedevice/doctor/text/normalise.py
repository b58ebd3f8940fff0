"""From whatever a person pastes to text that patterns can be matched against.

A paste may hold colours, the boxes that `rich` draws, prefixes of ranks and quotations, typographic quotes, blanks of
other scripts, bytes that were not UTF-8. docs/assets/doctor/normalise.js does the same, step by step, in the browser: a
test compares the two, so a change here is a change there. After `clean` the only blanks are the space and the line end,
and there are no control characters and no lone surrogates.
"""

import re

_NOT_PLAIN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_LINE_END = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_COLOUR = re.compile(r"\x1b\[[0-9;:?]{0,40}[@-~]|\x1b\][^\x07\x1b\n]{0,1000}(?:\x07|\x1b\\)")
# Where the escape was lost, or written out. Without digits it would be code: `x[mask]`.
_COLOUR_WRITTEN = re.compile(r"\[(?:[0-9]{1,3};){0,8}[0-9]{1,3}m")
_ESCAPES_WRITTEN = ("\\u001b[", "\\x1b[", "\\033[", "^[[", "\u241b[")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_BLANK = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2500-\u259f]")  # blanks, and the lines of boxes
_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
# They change the order in which signs are shown: what is read from a paste shows them written out, as "\u202e".
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_BIDI_WRITTEN = re.compile(r"\\u(?:061c|200[ef]|202[a-e]|206[6-9])")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SIGNS, _PLAIN = "\u2018\u2019\u201c\u201d\uff07\uff02\uff0c\uff1a\uff08\uff09\uff01", "''\"\"'\",:()!"
_SIGN = re.compile(f"[{_SIGNS}]")
_ENTITIES = {"&#39;": "'", "&#x27;": "'", "&quot;": '"', "&lt;": "<", "&gt;": ">", "&nbsp;": " ", "&amp;": "&"}
_LINE_END_WRITTEN = re.compile(r"\\n(?=  File |Traceback|    |[A-Z]\w{2,40}(?:Error|Exception)\b)", re.ASCII)
# nbconvert and papermill write a notebook whose traceback is a list of strings, one a line.
_NOTEBOOK = '"traceback": ['
_STRING = re.compile(r'^ {0,40}"(.*)",?$', re.MULTILINE)
_ESCAPED = re.compile(r'\\([nt"\\])')
_UNESCAPED = {"n": "\n", "t": "    ", '"': '"', "\\": "\\"}
_NOTEBOOK_LINK = re.compile(r"<a href='vscode-[^'>\n]{1,1000}'>([0-9]{1,7})</a>")
_COLAB_LINK = re.compile(r"\[([^\[\]\n]{1,400})\]\(https?://localhost[^()\n]{0,100}\)")
_PREFIX = re.compile(
    r"^ {0,200}(?:(?:\[(?:rank|default)[0-9]{1,5}\]:|\[[0-9]{1,5},[0-9]{1,5}\]<std(?:err|out)>:"
    r"|\([\w:.-]{1,80} pid=[0-9]{1,9}(?:, ip=[0-9.]{1,20})?\)|[>|]) ?)+",
    re.MULTILINE | re.ASCII,
)
# Ranks write into each other's lines: those of each are read together.
_RANKS = re.compile(
    r"^\[(?:rank|default)[0-9]{1,5}\]:.*(?:\n\[(?:rank|default)[0-9]{1,5}\]:.*)+", re.MULTILINE | re.ASCII
)
# pytest marks the error with "E", and the failing line with ">", which `samedevice.doctor.text.traceback` reads.
_PYTEST = re.compile("^E(?: {3,40}|$)", re.MULTILINE)
# Its summary repeats the message, cut off: the whole one stands above.
_SUMMARY = re.compile("^(?:FAILED|ERROR) [^\n]{1,400}::[^\n]{1,400} - [^\n]{0,400}$", re.MULTILINE)


def clean(text: str) -> str:
    """`text` in its lines, without colours, boxes, prefixes and typographic quotes."""
    # What is not there is not looked for twice: a log may have ten million characters.
    if _NOT_PLAIN.search(text):
        text = _LINE_END.sub("\n", text).replace("\t", "    ")
        text = _CONTROL.sub(" ", _COLOUR.sub("", text))
    if _NOTEBOOK in text:
        text = _STRING.sub(lambda line: _ESCAPED.sub(lambda sign: _UNESCAPED[sign[1]], line[1]), text)
    if "[" in text and _COLOUR_WRITTEN.search(text):
        for escape in _ESCAPES_WRITTEN:
            text = text.replace(escape, "[")
        text = _COLOUR_WRITTEN.sub("", text)
    if not text.isascii():
        text = _INVISIBLE.sub("", _BLANK.sub(" ", _SURROGATE.sub("\ufffd", text)))
        text = _SIGN.sub(lambda sign: _PLAIN[_SIGNS.index(sign[0])], text)
        text = escaped(text)
    if "&" in text:
        for entity, sign in _ENTITIES.items():
            text = text.replace(entity, sign)
    if "\\n" in text and _LINE_END_WRITTEN.search(text):
        text = _LINE_END_WRITTEN.sub("\n", text).replace('\\"', '"')
    if "vscode-" in text:
        text = _NOTEBOOK_LINK.sub(r"\1", text)
    if "](http" in text:
        text = _COLAB_LINK.sub(r"\1", text)
    if "E   " in text and _PYTEST.search(text):
        return _PYTEST.sub("", _SUMMARY.sub("", text))
    if "]:" in text:
        text = _RANKS.sub(lambda lines: "\n".join(sorted(lines[0].split("\n"), key=_rank)), text)
    return _PREFIX.sub("", text) if any(sign in text for sign in (">", "|", "]:", " pid=")) else text


def _rank(line: str) -> str:
    return line[: line.index("]")]


def escaped(text: str) -> str:
    r"""Write out the signs that change the order in which others are shown, so that code does not look like other code.

    Example:
        >>> escaped("if is_admin:  # \u202e") == r"if is_admin:  # \u202e"
        True
    """
    for sign in sorted(set(_BIDI.findall(text))):
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def lines(cleaned: str) -> list[str]:
    """Return the lines that hold anything."""
    return [line for line in cleaned.split("\n") if line and not line.isspace()]


def squeezed(line: str) -> str:
    """`line` with every run of blanks a single space, none at its ends."""
    return " ".join(line.split())


def matched(window: list[str]) -> list[str]:
    """Return the lines as patterns are matched against them: squeezed, without the signs that `escaped` wrote out."""
    if any("\\u" in line for line in window):
        return [squeezed(_BIDI_WRITTEN.sub("", line)) for line in window]
    return [squeezed(line) for line in window]
