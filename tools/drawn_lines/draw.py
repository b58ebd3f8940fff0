"""Draw a whole program: the failing expression in a statement, the statement in a block, the block in a function."""

import ast
import random
import re
import textwrap

from drawn_lines.drawing import CULPRIT, Drawing
from drawn_lines.program import Program, assembled
from drawn_lines.scope import Scope, Style
from drawn_lines.statements import BLOCKS, COMMENTS, LOOPED, STATEMENTS, weighted
from drawn_lines.templates import replaced

_STYLES: tuple[Style, ...] = ("forward", "method", "function", "script")
_TARGETS = "out loss y_hat result h2 value total_out score logits2 new_state"
_STORES = {"total": "total = 0.0", "losses": "losses = []", "store": "store = {}"}


def drawn(seed: int, number: int) -> Program:
    """Draw a program; the same two numbers draw the same one."""
    rng = random.Random(f"{seed}:{number}")
    between_gpus = rng.random() < 0.12
    style = rng.choices(_STYLES, (45, 15, 25, 15))[0]
    scope = Scope(rng, style, ', device="cuda:1"' if between_gpus else "", is_wrapped=rng.random() < 0.2)
    drawing = Drawing(rng, scope)
    expression, kind = drawing.operation()
    statement = expression
    if kind != "write":
        statement = _statement(drawing, drawing.in_context(expression, kind))
    elif scope.loops:
        statement = _in_loop(scope, statement)
    text, line, end = _built(drawing, statement, drawing.operand)
    healed_operand, above = drawing.operand, ""
    if drawing.is_place:
        above = f"{drawing.operand} = {drawing.operand}.to(device)\n"
    else:
        healed_operand = replaced("operand.to(device)", "operand", drawing.operand)
    healed = _built(drawing, statement, healed_operand, above, is_plain=True)[0]
    return Program(
        text,
        line,
        end,
        healed,
        frozenset(drawing.culprits),
        frozenset(drawing.owners),
        drawing.operand,
        len(scope.candidates),
        drawing.form,
        drawing.template,
        tuple(scope.loops.items()),
        between_gpus,
        frozenset(drawing.partners),
    )


def _statement(drawing: Drawing, expression: str) -> str:
    """Put an expression into a statement; the line that fails begins with "@" where there are more."""
    scope, rng = drawing.scope, drawing.rng
    is_looped = bool(scope.loops) and rng.random() < 0.6
    templates, weights = weighted(LOOPED if is_looped else STATEMENTS)
    if scope.style == "script":
        weights = [0 if "return" in template else weight for template, weight in zip(templates, weights, strict=True)]
    template = rng.choices(templates, weights)[0]
    if template.startswith("total +="):
        scope.candidates["total"] = None  # a reader does not know that it is a number
    variable, several = _loop(scope)
    values = {"E": expression, "variable": variable, "several": several, "new": scope.name(_TARGETS)}
    names = re.findall(r"(?<![\w.\"'])[a-z]\w*(?![\w.(\[\"'=])", expression)
    old = [name for name in names if name in scope.arguments and name not in scope.loops.values()]
    values["old"] = rng.choice(old) if old else values["new"]

    def value(match: re.Match[str]) -> str:
        slot = match[1]
        return values[slot] if slot in values else drawing.innocent(slot, 1)

    statement = re.sub(r"\{(\w+)\}", value, template)
    if scope.loops and not is_looped:
        statement = _in_loop(scope, statement)
    return statement


def _loop(scope: Scope) -> tuple[str, str]:
    """Return the variables of all loops, and what they run over."""
    names = ", ".join(scope.loops)
    if len(scope.loops) < 2:
        return names, ", ".join(scope.loops.values())
    return (f"({names})" if scope.rng.random() < 0.5 else names), f"zip({', '.join(scope.loops.values())})"


def _in_loop(scope: Scope, statement: str) -> str:
    variable, several = _loop(scope)
    return f"for {variable} in {several}:\n{textwrap.indent(_marked(statement), '    ')}"


def _marked(statement: str) -> str:
    return statement if re.search(r"^\s*@", statement, re.MULTILINE) else f"@{statement}"


def _built(
    drawing: Drawing, statement: str, operand: str, above: str = "", is_plain: bool = False
) -> tuple[str, int, int]:
    """Return the program with an operand in the place of the culprit, and the first and last line of its statement."""
    rng = random.Random(statement)  # the same for both programs
    templates, weights = weighted(BLOCKS)
    block = rng.choices(templates, weights)[0]
    lines = _marked(replaced(statement, CULPRIT, operand)).split("\n")
    at = next(number for number, line in enumerate(lines) if line.lstrip().startswith("@"))
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    failing = lines[at].lstrip()[1:]
    failing = failing if is_plain else _laid_out(rng, failing)
    count = failing.count("\n") + 1
    lines[at : at + 1] = textwrap.indent(failing, indent).split("\n")
    lines = [*above.splitlines(), *lines] if above and at == 0 else lines
    if above and at > 0:
        lines[at:at] = [indent + line for line in above.splitlines()] if not failing.startswith("elif") else []
        lines = lines if not failing.startswith("elif") else [*above.splitlines(), *lines]
    marker = "\0"
    lines[at] = marker + lines[at]
    prefix = re.search(r"^ *(?=\{statement\})", block, re.MULTILINE)
    body = block.replace(
        "{statement}", textwrap.indent("\n".join(lines), prefix[0] if prefix else "", lambda line: True).lstrip(" ")
    )
    before = [*(each for name, each in _STORES.items() if re.search(rf"\b{name}\b", statement)), *drawing.scope.locals]
    body = "\n".join([*before, body])
    text = assembled(drawing.scope, body)
    first = text[: text.index(marker)].count("\n") + 1
    return text.replace(marker, ""), first, first + count - 1


def _laid_out(rng: random.Random, line: str) -> str:
    """Return a statement as it stands in a file: on one line, with a comment, or with an argument on each line."""
    chance = rng.random()
    if chance < 0.05 and "\n" not in line and ":" not in line[-1:]:
        return line + rng.choice(COMMENTS)
    return _exploded(line) if chance > 0.72 else line


def _exploded(line: str) -> str:
    """Put each argument of the outermost call on a line of its own, as formatters do."""
    try:
        (statement,) = ast.parse(line).body
    except (SyntaxError, ValueError):
        return line  # the head of a block
    value = getattr(statement, "value", None)
    if not isinstance(value, ast.Call) or not value.args or ";" in line:
        return line
    parts = [*value.args, *(keyword.value for keyword in value.keywords)]
    names = [*(None for _ in value.args), *(keyword.arg for keyword in value.keywords)]
    if any(isinstance(part, ast.GeneratorExp) for part in parts):
        return line
    arguments = [
        f"    {f'{name}=' if name else ''}{ast.get_source_segment(line, part)},\n"
        for name, part in zip(names, parts, strict=True)
    ]
    head = line[: value.func.end_col_offset]
    return f"{head}(\n{''.join(arguments)}){line[value.end_col_offset :]}"
