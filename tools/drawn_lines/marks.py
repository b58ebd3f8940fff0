"""The lines that a Python traceback shows of a frame, with the marks below them, as each release of Python prints them.

From Lib/traceback.py of CPython 3.11 and 3.13. Until 3.10 there are no marks. 3.11 and 3.12 show one line, and mark
operators and the brackets of an index. From 3.13 on it is all lines that failed, and the brackets of calls are marked.
"""

import ast
import contextlib

from drawn_lines.running import Frame

_Place = tuple[int, int]  # a line, from 0, and a column


def shown_until_310(frame: Frame) -> list[str]:
    """Return the line of a frame."""
    return [frame.source[frame.line - 1].strip()]


def shown_in_311(frame: Frame) -> list[str]:
    """Return the line of a frame and its marks."""
    line = frame.source[frame.line - 1]
    text = line.strip()
    if frame.span is None or frame.span[0] != frame.line:
        return [text]
    indent = len(line) - len(line.lstrip())
    _, start, last, end = frame.span
    start, end = start - indent, (end - indent if last == frame.line else len(text))
    operator = _operator(text[start:end], has_calls=False) if last == frame.line else None
    if operator is None and end - start >= len(text):
        return [text]
    return [text, " " * start + _marks(end - start, operator)]


def shown_by_pytest(frame: Frame) -> list[str]:
    """Return the line of a frame, and the same mark below all that failed; none where that has several lines."""
    line = frame.source[frame.line - 1]
    if frame.span is None or frame.span[0] != frame.span[2]:
        return [line.strip()]
    _, start, _, end = frame.span
    if end - start >= len(line.strip()):
        return [line.strip()]
    return [line.strip(), " " * (start - (len(line) - len(line.lstrip()))) + "^" * (end - start)]


def shown_in_313(frame: Frame) -> list[str]:
    """Return the lines of a frame, each with its marks, and with a note in the place of those between."""
    if frame.span is None:
        return shown_until_310(frame)
    first, start, last, end = frame.span
    lines = frame.source[first - 1 : last]
    segment = _segment(lines, start, end)
    operator = _operator(segment, has_calls=True)
    places = _places(segment, operator, start) if operator else None
    shown = _significant(len(lines), places)
    is_marked = _shows_marks(lines, start, end, is_anchored=places is not None)
    texts: list[str] = []
    before = -1
    for number in shown:
        if number - before == 2:
            texts += _marked(lines, before + 1, start, end, places, is_marked)
        elif number - before > 2:
            texts.append(f"...<{number - before - 1} lines>...")
        texts += _marked(lines, number, start, end, places, is_marked)
        before = number
    indent = min(len(text) - len(text.lstrip()) for text in texts if text.strip() and not text.startswith("...<"))
    return [text if text.startswith("...<") else text[indent:] for text in texts]


def _segment(lines: list[str], start: int, end: int) -> str:
    text = "\n".join(lines)
    return text[start : len(text) - (len(lines[-1]) - end)]


def _operator(segment: str, has_calls: bool) -> tuple[int, int] | None:
    """Return where the operator, or the brackets, of an expression stand in its text."""
    try:
        (statement,) = ast.parse(f"(\n{segment}\n)").body
    except (SyntaxError, ValueError):
        return None
    node = statement.value if isinstance(statement, ast.Expr) else None
    starts = [0]
    for line in segment.split("\n"):
        starts.append(starts[-1] + len(line) + 1)

    def end_of(part: ast.expr) -> int:
        assert part.end_lineno is not None and part.end_col_offset is not None
        return starts[part.end_lineno - 2] + part.end_col_offset

    if isinstance(node, ast.BinOp):
        at = end_of(node.left)
        between = segment[at : starts[node.right.lineno - 2] + node.right.col_offset].lstrip()
        while segment[at].isspace() or segment[at] in ")\\":
            at += 1
        if has_calls:
            return at, at + 1 + (segment[at : at + 2] in ("**", "//", "<<", ">>"))
        return at, at + 1 + (not between[1:2].isspace())  # until 3.12, it may be a bracket that is measured
    if isinstance(node, ast.Subscript) or (isinstance(node, ast.Call) and has_calls):
        at = end_of(node.value if isinstance(node, ast.Subscript) else node.func)
        opening = "[" if isinstance(node, ast.Subscript) else "("
        return segment.index(opening, at), len(segment)
    return None


def _marks(length: int, operator: tuple[int, int] | None) -> str:
    first, last = operator or (0, length)
    return "~" * first + "^" * (last - first) + "~" * (length - last)


def _places(segment: str, operator: tuple[int, int], start: int) -> tuple[_Place, _Place]:
    """Return the lines and columns where an operator begins and ends."""

    def place(at: int) -> _Place:
        before = segment[:at]
        line = before.count("\n")
        return line, at - (before.rfind("\n") + 1) + (start if line == 0 else 0)

    return place(operator[0]), place(operator[1])


def _significant(count: int, places: tuple[_Place, _Place] | None) -> list[int]:
    numbers = {0, count - 1}
    for line, _ in places or ():
        numbers |= set(range(line - 1, line + 2))
    return sorted(number for number in numbers if 0 <= number < count)


def _shows_marks(lines: list[str], start: int, end: int, is_anchored: bool) -> bool:
    with contextlib.suppress(SyntaxError):
        indent = len(lines[0]) - len(lines[0].lstrip())
        statement = ast.parse("\n".join(line[indent:] for line in lines)).body[0]
        value = None
        if isinstance(statement, ast.Return) and isinstance(statement.value, ast.Call):
            value = statement.value if isinstance(statement.value.func, ast.Name) else None
        elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            value = statement.value if isinstance(statement.targets[0], ast.Name) else None
        if value is not None and (value.col_offset, value.end_col_offset) == (start - indent, end - indent):
            return False
    return is_anchored or bool(lines[0][:start].lstrip() or lines[-1][end:].rstrip())


def _marked(
    lines: list[str], number: int, start: int, end: int, places: tuple[_Place, _Place] | None, is_marked: bool
) -> list[str]:
    """Return a line, and its marks if there are any."""
    line = lines[number]
    if not is_marked:
        return [line]
    begin = max(len(line) - len(line.lstrip()), start if number == 0 else 0)
    stop = end if number == len(lines) - 1 else len(line)
    marks = [
        "^" if places is None or places[0] <= (number, column) < places[1] else "~" for column in range(begin, stop)
    ]
    return [line, " " * begin + "".join(marks)]
