"""The headings of a notebook, and the cells below each."""

import re


def sections(notebook):
    """(heading, its cells) of each section; a heading's section begins with the cell that the heading is in."""
    headings = list(all_headings(notebook))[1:]
    ends = [begin for begin, _ in headings[1:]] + [len(notebook.cells)]
    return [(line, notebook.cells[begin:end]) for (begin, line), end in zip(headings, ends, strict=True)]


def all_headings(notebook):
    """(index of the cell, line) of every heading outside fenced code."""
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            prose = re.sub(r"^```.*?^```", "", cell.source, flags=re.M | re.S)
            yield from ((index, line) for line in prose.splitlines() if re.match(r"#{1,6} ", line))
