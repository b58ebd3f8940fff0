"""Templates of expressions, such as `torch.where({mask}, {mat}, {num})`: their slots, and how they are filled.

An expression that is put beside an operator or before a dot gets parentheses where Python needs them.
"""

import ast
import functools
import itertools
import re
from collections.abc import Iterator, Sequence

_SLOT = re.compile(r"\{(\w+)\}")
_ALONE = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.List, ast.Tuple, ast.Dict)


@functools.cache
def slots(template: str) -> tuple[str, ...]:
    """Return the kinds of a template's slots, from left to right."""
    return tuple(_SLOT.findall(template))


def filled(template: str, texts: Sequence[str]) -> str:
    """Put expressions into the slots of a template, from left to right."""
    return _put(template, _SLOT, iter(texts))


def replaced(text: str, name: str, by: str) -> str:
    """Put an expression into the places of a name, as if they were slots."""
    return _put(text, re.compile(rf"\b{name}\b"), itertools.repeat(by))


def _put(template: str, slot: re.Pattern[str], texts: Iterator[str]) -> str:
    def put(match: re.Match[str]) -> str:
        text, before, after = next(texts), template[: match.start()], template[match.end() :]
        is_plain = _is_open(before, after) or _stands_alone(text, is_before_dot=after[:1] == ".")
        return text if is_plain else f"({text})"

    return slot.sub(put, template)


def _is_open(before: str, after: str) -> bool:
    """Tell whether any expression may stand in a slot as it is: as an argument, an element, or all there is."""
    if not before.strip() and not after.strip():
        return True
    return before.endswith(("(", "[", "=", ", ")) and not before.endswith("==") and after[:1] in (",", ")", "]", "")


@functools.lru_cache(maxsize=4096)
def _stands_alone(text: str, is_before_dot: bool) -> bool:
    node = ast.parse(text, mode="eval").body
    return isinstance(node, _ALONE) or (isinstance(node, ast.Constant) and not is_before_dot)


@functools.lru_cache(maxsize=4096)
def spelled(text: str) -> str:
    """Return an expression without its layout: two spellings of the same expression are equal."""
    return ast.dump(ast.parse(text.strip(), mode="eval").body)


def parts(text: str) -> set[str]:
    """Return the spellings of an expression and of each part of it."""
    return {ast.dump(node) for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.expr)}


def around(operand: str, base: str) -> set[str]:
    """Return the spellings of a base expression, and of each part of an operand that the base is in."""
    inner = spelled(base)
    return {inner} | {part for part in parts(operand) if inner in part}
