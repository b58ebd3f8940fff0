"""Where a function has a name from that is not its own: the statement of the script or of the function around it.

That function may have returned long ago, and a file is long: so only the lines that give the name are parsed.
"""

import ast
import re
import textwrap

from samedevice.introspect.expressions import placed
from samedevice.introspect.frames import Call, lines_of
from samedevice.introspect.origins import Origin, gives

_LINES = 20  # of one statement


def is_from_outside(name: str, call: Call) -> bool:
    """Tell whether a function's name is a global, or a name of the function around it."""
    code = call.frame.f_code
    return name in code.co_freevars or (name in call.globals and name not in call.locals)


def given_outside(name: str, call: Call) -> Origin | None:
    """Find what gave a global, or a name of the function around, its value: the last assignment at a smaller indent."""
    code = call.frame.f_code
    lines = lines_of(code, call.globals)
    is_free = name in code.co_freevars
    pattern = re.compile(rf"([ \t]*){re.escape(name)}\b[^=\n]*=(?!=)")
    indent = _indent(lines[code.co_firstlineno - 1]) if len(lines) >= code.co_firstlineno else 0
    above = range(code.co_firstlineno - 2, -1, -1) if is_free else range(len(lines) - 1, -1, -1)
    for number in above:
        if number < len(lines) and (found := pattern.match(lines[number])):
            depth = len(found[1])
            if (depth <= indent and depth > 0) if is_free else depth == 0:
                return _parsed(name, lines[number : number + _LINES], number, depth)
    return None


def _parsed(name: str, lines: list[str], above: int, indent: int) -> Origin | None:
    for last in range(1, len(lines) + 1):
        try:
            statement = ast.parse(textwrap.dedent("".join(lines[:last]))).body[0]
        except SyntaxError:
            continue
        return gives(placed(statement, above, indent), name)
    return None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
