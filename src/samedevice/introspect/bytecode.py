"""Read the statements of code back from its bytecode, where there is no source for it.

That is so at Python's own prompt and in `python -c` (before Python 3.13), in `exec`, and in a long run whose file was
edited meanwhile. Only what the doctor looks for is read: which expressions were assigned to which names, in which loop.
An instruction that is not known here gives a value that is not known, and branches are read in the order of the
instructions. The columns are those that the compiler kept, so the failing expression is found as among parsed ones.
"""

import ast
import dis
import types
from collections.abc import Callable
from typing import Any

from samedevice.introspect.namespaces import plain

_UNKNOWN = "unknown_"
_OPERATORS: dict[str, type[ast.operator]] = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "//": ast.FloorDiv, "%": ast.Mod, "@": ast.MatMult,
    "**": ast.Pow, "&": ast.BitAnd, "|": ast.BitOr, "^": ast.BitXor, "<<": ast.LShift, ">>": ast.RShift,
}  # fmt: skip
_COMPARISONS: dict[str, type[ast.cmpop]] = {
    "==": ast.Eq, "!=": ast.NotEq, "<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE,
}  # fmt: skip


def statements(code: types.CodeType) -> ast.Module:
    """Return the assignments, loops and expression statements of `code`."""
    reader = _Reader(code)
    for instruction in dis.get_instructions(code):
        try:
            reader.read(instruction)
        except (IndexError, KeyError, TypeError, AttributeError, ValueError):
            reader.stack.clear()
    arguments = [ast.arg(name) for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]
    body: list[ast.stmt] = reader.body or [ast.Pass()]
    if code.co_flags & 0x02:  # a function: its arguments are names too
        signature = ast.arguments([], arguments, None, [], [], None, [])
        body = [ast.FunctionDef(plain(code.co_name), signature, body, [], lineno=code.co_firstlineno)]
    return ast.fix_missing_locations(ast.Module(body, []))  # the keys of a dictionary have no place of their own


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _effect(instruction: dis.Instruction) -> int:
    """Return how many values more there are on the stack after an instruction."""
    argument = instruction.arg if instruction.opcode >= dis.HAVE_ARGUMENT else None
    return dis.stack_effect(instruction.opcode, argument, jump=False)


def _name(instruction: dis.Instruction) -> ast.Name:
    return ast.Name(str(instruction.argval), ast.Load())


def _item(_: dis.Instruction, base: ast.expr, key: ast.expr) -> ast.Subscript:
    return ast.Subscript(base, key, ast.Load())


def _slice(_: dis.Instruction, *bounds: ast.expr) -> ast.Slice:
    return ast.Slice(*(None if _is_none(bound) else bound for bound in bounds))


def _comparison(instruction: dis.Instruction, left: ast.expr, right: ast.expr) -> ast.Compare:
    sign = instruction.argrepr.removeprefix("bool(").removesuffix(")")
    return ast.Compare(left, [_COMPARISONS.get(sign, ast.Eq)()], [right])


# The expression that an instruction leaves on the stack, made of all that it takes from there.
_EXPRESSIONS: dict[str, Callable[..., ast.expr]] = {
    **dict.fromkeys(
        ("LOAD_NAME", "LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW", "LOAD_DEREF", "LOAD_CLASSDEREF"), _name
    ),
    "LOAD_CONST": lambda instruction: ast.Constant(instruction.argval),
    "LOAD_SMALL_INT": lambda instruction: ast.Constant(instruction.argval),
    "BINARY_SUBSCR": _item,
    "BUILD_SLICE": _slice,
    "BINARY_SLICE": lambda instruction, base, *bounds: _item(instruction, base, _slice(instruction, *bounds)),
    "UNARY_NEGATIVE": lambda _, value: ast.UnaryOp(ast.USub(), value),
    "COMPARE_OP": _comparison,
    "FORMAT_SIMPLE": lambda _, value: ast.FormattedValue(value, -1),
    "BUILD_STRING": lambda _, *parts: ast.JoinedStr(list(parts)),
    "BUILD_LIST": lambda _, *items: ast.List(list(items), ast.Load()),
    "BUILD_TUPLE": lambda _, *items: ast.Tuple(list(items), ast.Load()),
    "BUILD_MAP": lambda _, *pairs: ast.Dict(list(pairs[::2]), list(pairs[1::2])),
}
_Read = Callable[["_Reader", dis.Instruction], None]
_OTHERS: dict[str, _Read] = {}  # what reads an instruction that does anything else


def _reads(*names: str) -> Callable[[_Read], _Read]:
    """Register the method that reads the instructions of these names."""

    def register(read: _Read) -> _Read:
        _OTHERS.update(dict.fromkeys(names, read))
        return read

    return register


class _Reader:
    def __init__(self, code: types.CodeType) -> None:
        self.stack: list[Any] = []
        self.body: list[ast.stmt] = []
        self._blocks: list[tuple[int, list[ast.stmt]]] = []
        self._names: tuple[str, ...] = ()
        self._constants = code.co_consts
        self._targets: list[ast.expr] = []
        self._pending = 0

    def read(self, instruction: dis.Instruction) -> None:
        while self._blocks and instruction.offset >= self._blocks[-1][0]:
            self.body = self._blocks.pop()[1]
        if expression := _EXPRESSIONS.get(instruction.opname):
            taken = self._take(1 - _effect(instruction))
            self._push(instruction, expression(instruction, *taken))
        else:
            _OTHERS.get(instruction.opname, _Reader._skip)(self, instruction)

    @_reads("PRECALL")
    def _before_a_call(self, _: dis.Instruction) -> None:
        """Leave to CALL what this instruction of Python 3.11 says that it takes."""

    @_reads("PUSH_NULL")
    def _null(self, _: dis.Instruction) -> None:
        self.stack.append(None)

    @_reads("LOAD_GLOBAL")
    def _load_global(self, instruction: dis.Instruction) -> None:
        if instruction.arg is not None and instruction.arg & 1:
            self.stack.append(None)
        self._push(instruction, _name(instruction))

    @_reads("LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW")
    def _load_two(self, instruction: dis.Instruction) -> None:
        for name in instruction.argval:
            self._push(instruction, ast.Name(name, ast.Load()))

    @_reads("LOAD_ATTR", "LOAD_METHOD")
    def _load_attribute(self, instruction: dis.Instruction) -> None:
        self._push(instruction, ast.Attribute(self.stack.pop(), str(instruction.argval), ast.Load()))
        if instruction.opname == "LOAD_METHOD" or "|self" in instruction.argrepr or "NULL" in instruction.argrepr:
            self.stack.append(None)

    @_reads("FORMAT_VALUE")
    def _format(self, instruction: dis.Instruction) -> None:
        if (instruction.arg or 0) & 4:  # with a format, which is not read
            self._skip(instruction)
        else:
            self._push(instruction, ast.FormattedValue(self.stack.pop(), -1))

    @_reads("BUILD_CONST_KEY_MAP")
    def _dict_of_constant_keys(self, instruction: dis.Instruction) -> None:
        keys = self.stack.pop()
        values = self._take(instruction.arg or 0)
        self._push(instruction, ast.Dict([ast.Constant(key) for key in keys.value], values))

    @_reads("KW_NAMES")
    def _keywords(self, instruction: dis.Instruction) -> None:
        self._names = self._constants[instruction.arg or 0]

    @_reads("CALL", "CALL_KW")
    def _call(self, instruction: dis.Instruction) -> None:
        names = self._names
        if instruction.opname == "CALL_KW":
            names = self.stack.pop().value
        self._names = ()
        values = self._take(instruction.arg or 0)
        function = self.stack.pop()
        if function is None:
            function = self.stack.pop()
        elif self.stack and self.stack[-1] is None:
            self.stack.pop()
        positional = values[: len(values) - len(names)]
        keywords = [ast.keyword(key, value) for key, value in zip(names, values[len(positional) :], strict=True)]
        self._push(instruction, ast.Call(function, positional, keywords))

    @_reads("BINARY_OP")
    def _binary(self, instruction: dis.Instruction) -> None:
        sign = instruction.argrepr.removesuffix("=")
        right, left = self.stack.pop(), self.stack.pop()
        if instruction.argrepr == "[]":
            self._push(instruction, ast.Subscript(left, right, ast.Load()))
        elif instruction.argrepr.endswith("="):
            statement = ast.AugAssign(left, _OPERATORS[sign](), right)
            self._statement(instruction, statement)
            self.stack.append(statement)
        else:
            self._push(instruction, ast.BinOp(left, _OPERATORS[sign](), right))

    @_reads("STORE_NAME", "STORE_GLOBAL", "STORE_FAST", "STORE_DEREF")
    def _store_name(self, instruction: dis.Instruction) -> None:
        self._store(instruction, ast.Name(str(instruction.argval), ast.Store()))

    @_reads("STORE_FAST_STORE_FAST")
    def _store_two(self, instruction: dis.Instruction) -> None:
        for name in instruction.argval:
            self._store(instruction, ast.Name(name, ast.Store()))

    @_reads("STORE_FAST_LOAD_FAST")
    def _store_and_load(self, instruction: dis.Instruction) -> None:
        stored, loaded = instruction.argval
        self._store(instruction, ast.Name(stored, ast.Store()))
        self._push(instruction, ast.Name(loaded, ast.Load()))

    @_reads("STORE_ATTR")
    def _store_attribute(self, instruction: dis.Instruction) -> None:
        self._store(instruction, ast.Attribute(self.stack.pop(), str(instruction.argval), ast.Store()))

    @_reads("STORE_SUBSCR")
    def _store_item(self, instruction: dis.Instruction) -> None:
        key, base = self.stack.pop(), self.stack.pop()
        self._store(instruction, ast.Subscript(base, key, ast.Store()))

    @_reads("UNPACK_SEQUENCE")
    def _unpack(self, instruction: dis.Instruction) -> None:
        self._pending, self._targets = instruction.arg or 0, []

    @_reads("FOR_ITER")
    def _loop(self, instruction: dis.Instruction) -> None:
        target = ast.Name(_UNKNOWN, ast.Store())
        self._place(instruction, target)
        loop = ast.For(target, self.stack.pop(), [], [])
        self._place(instruction, loop)
        loop.end_lineno = 10**9
        self.body.append(loop)
        self._blocks.append((instruction.argval, self.body))
        self.body = loop.body
        self.stack.append(loop)

    @_reads("SWAP")
    def _swap(self, instruction: dis.Instruction) -> None:
        self.stack[-1], self.stack[-instruction.arg] = self.stack[-instruction.arg], self.stack[-1]  # type: ignore[operator]

    @_reads("COPY")
    def _copy(self, instruction: dis.Instruction) -> None:
        self.stack.append(self.stack[-instruction.arg])  # type: ignore[operator]

    @_reads("RETURN_VALUE")
    def _return(self, instruction: dis.Instruction) -> None:
        returned = self.stack.pop()
        if not _is_none(returned):  # else the end of all code, at the place of its last statement
            self._statement(instruction, ast.Return(returned))

    @_reads("POP_TOP")
    def _expression(self, instruction: dis.Instruction) -> None:
        value = self.stack.pop()
        if isinstance(value, ast.expr):
            self._statement(instruction, ast.Expr(value))

    def _skip(self, instruction: dis.Instruction) -> None:
        """Skip an instruction that is not read: what it takes is a statement, and what it leaves is not known."""
        effect = _effect(instruction)
        if effect < 0:
            for taken in self._take(min(-effect, len(self.stack))):
                if isinstance(taken, ast.Call | ast.BinOp | ast.Subscript):  # of a comprehension, say
                    self._statement(instruction, ast.Expr(taken))
        for _ in range(effect):
            unknown = ast.Name(_UNKNOWN, ast.Load())
            unknown.lineno = unknown.end_lineno = unknown.col_offset = unknown.end_col_offset = 0
            self.stack.append(unknown)

    def _push(self, instruction: dis.Instruction, node: ast.expr) -> None:
        self._place(instruction, node)
        self.stack.append(node)

    @staticmethod
    def _place(instruction: dis.Instruction, node: ast.expr | ast.stmt) -> None:
        where = instruction.positions
        known = where is not None and where.lineno is not None
        node.lineno, node.end_lineno = (where.lineno, where.end_lineno) if known else (0, 0)  # type: ignore[union-attr,assignment]
        node.col_offset, node.end_col_offset = (where.col_offset or 0, where.end_col_offset) if known else (0, 0)  # type: ignore[union-attr]

    def _statement(self, instruction: dis.Instruction, node: ast.stmt) -> None:
        self._place(instruction, node)
        self.body.append(node)

    def _take(self, count: int) -> list[Any]:
        taken = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        return taken

    def _store(self, instruction: dis.Instruction, target: ast.expr) -> None:
        self._place(instruction, target)
        if self._pending:
            self._targets.append(target)
            self._pending -= 1
            if self._pending:
                return
            target = ast.Tuple(self._targets, ast.Store())
            self._place(instruction, target)
        value = self.stack.pop()
        if isinstance(value, ast.For):
            value.target = target
            self.stack.append(value.iter)  # the iterator stays there
        elif isinstance(value, ast.expr):
            self._statement(instruction, ast.Assign([target], value))
