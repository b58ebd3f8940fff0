"""Stored outputs made fit to publish: tracebacks of at most 30 lines, no terminal colours, no paths of a machine.

A reader needs the line of the cell that failed. PyTorch's own frames say only which function was called, so one line of
each is kept. The frames of our simulation do not exist on a real GPU, so they are left out.
"""

import re

LONGEST = 30  # lines of one traceback

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_PATH = re.compile(
    r"""(?<![^\s"'(\[=<>,:])            # at the start of a word: not the path of a web address
    (?:~|[A-Za-z]:)?(?:[/\\][\w.+@-]+)+[/\\][\w.+@-]+""",
    re.VERBOSE,
)
_LIBRARY = re.compile(r".*[/\\](?:site-packages|dist-packages|src(?=[/\\](?:samedevice|lessons)[/\\]))[/\\](.+)")
_FRAME = re.compile(r"(Cell In\[|File )")
_OURS = re.compile(r"File (samedevice|lessons)[/\\]")
# What a process of a pool said: the frames of another process, as text, before the error that the caller got.
_REMOTE = re.compile(
    r"-+\n_?RemoteTraceback\b.*?The above exception was the direct cause of the following exception:\n\n", re.DOTALL
)
_SOURCE = re.compile(r"\s*(-+>|\(\.{3}\))?\s*\d+( |$)|$")  # `   12 x = y`, `---> 13 z`, `   (...)   15 w`, a blank line


def plain(text: str) -> str:
    """Return the text without terminal colours and with each absolute path cut to what any machine would show."""
    return _PATH.sub(lambda path: _portable(path[0]), _COLOUR.sub("", text))


def shorten(traceback: str) -> str:
    """Return a traceback as IPython stores it, cut to the frames of cells and a line for each of a library's.

    >>> print(shorten("Cell In[2], line 1\\n----> 1 f(x)\\n\\nFile /a/site-packages/torch/f.py:9, in f(x)\\n      9 g"))
    Cell In[2], line 1
    ----> 1 f(x)
    <BLANKLINE>
    File torch/f.py:9, in f(x)
    """
    kept: list[str] = []
    frame = ""  # the header of the frame that we are in
    for line in _REMOTE.sub("", plain(traceback)).splitlines():
        if _FRAME.match(line):
            frame = line
            if not _OURS.match(frame):
                kept.append(line)
        elif not (frame and _SOURCE.match(line)):
            if frame and kept[-1:] != [""]:
                kept.append("")
            frame = ""
            kept.append(line)
        elif frame.startswith("Cell"):
            kept.append(line)
    if len(kept) > LONGEST:
        head, tail = LONGEST // 2, LONGEST - LONGEST // 2 - 1
        kept[head:-tail] = [f"... {len(kept) - head - tail} lines ..."]
    return "\n".join(kept)


def _portable(path: str) -> str:
    """Return `torch/nn/modules/linear.py` for a file of an installed library, the bare name for any other."""
    library = _LIBRARY.match(path)
    return re.sub(r"\\", "/", library[1]) if library else re.split(r"[/\\]", path)[-1]
