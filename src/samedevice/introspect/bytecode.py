"""Read the statements of code back from its bytecode, where there is no source for it.

That is so at Python's own prompt and in `python -c` (before Python 3.13), in `exec`, and in a long run whose file was
edited meanwhile. Only what the doctor looks for is read: which expressions were assigned to which names, in which loop.
An instruction that is not known here gives a value that is not known, and branches are read in the order of the
instructions. The columns are those that the compiler kept, so the failing expression is found as among parsed ones.
"""

import ast
import dis
import types
from typing import Any

from samedevice.introspect.namespaces import plain

_UNKNOWN = "unknown_"
_LOADS = {
    "LOAD_NAME",
    "LOAD_GLOBAL",
    "LOAD_FAST",
    "LOAD_DEREF",
    "LOAD_CLASSDEREF",
    "LOAD_FAST_CHECK",
    "LOAD_FAST_BORROW",
}
_STORES = {"STORE_NAME", "STORE_GLOBAL", "STORE_FAST", "STORE_DEREF"}
_NOTHING = {"RESUME", "CACHE", "PRECALL", "NOP", "COPY_FREE_VARS", "MAKE_CELL", "EXTENDED_ARG", "GET_ITER", "NOT_TAKEN"}
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
        except (IndexError, KeyError, TypeError, AttributeError):
            reader.stack.clear()
    arguments = [ast.arg(name) for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]
    body: list[ast.stmt] = reader.body or [ast.Pass()]
    if code.co_flags & 0x02:  # a function: its arguments are names too
        signature = ast.arguments([], arguments, None, [], [], None, [])
        body = [ast.FunctionDef(plain(code.co_name), signature, body, [], lineno=code.co_firstlineno)]
    return ast.fix_missing_locations(ast.Module(body, []))  # the keys of a dictionary have no place of their own


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


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
        name, argument = instruction.opname, instruction.argval
        if name in _NOTHING:
            return
        if name == "PUSH_NULL":
            self.stack.append(None)
        elif name in _LOADS:
            if name == "LOAD_GLOBAL" and instruction.arg is not None and instruction.arg & 1:
                self.stack.append(None)
            self._push(instruction, ast.Name(str(argument), ast.Load()))
        elif name in ("LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW"):
            for part in argument:
                self._push(instruction, ast.Name(part, ast.Load()))
        elif name in ("LOAD_CONST", "LOAD_SMALL_INT"):
            self._push(instruction, ast.Constant(argument))
        elif name in ("LOAD_ATTR", "LOAD_METHOD"):
            self._push(instruction, ast.Attribute(self.stack.pop(), str(argument), ast.Load()))
            if name == "LOAD_METHOD" or ("|self" in instruction.argrepr or "NULL" in instruction.argrepr):
                self.stack.append(None)
        elif name == "KW_NAMES":
            self._names = self._constants[instruction.arg or 0]
        elif name in ("CALL", "CALL_KW"):
            self._call(instruction)
        elif name == "BINARY_OP":
            self._binary(instruction)
        elif name == "BINARY_SUBSCR":
            key, base = self.stack.pop(), self.stack.pop()
            self._push(instruction, ast.Subscript(base, key, ast.Load()))
        elif name in ("BUILD_SLICE", "BINARY_SLICE"):
            bounds = [None if _is_none(bound) else bound for bound in self._take(instruction.arg or 2)]
            self._push(instruction, ast.Slice(*bounds))
            if name == "BINARY_SLICE":
                key, base = self.stack.pop(), self.stack.pop()
                self._push(instruction, ast.Subscript(base, key, ast.Load()))
        elif name == "UNARY_NEGATIVE":
            self._push(instruction, ast.UnaryOp(ast.USub(), self.stack.pop()))
        elif name == "FORMAT_SIMPLE" or (name == "FORMAT_VALUE" and not (instruction.arg or 0) & 4):
            self._push(instruction, ast.FormattedValue(self.stack.pop(), -1))
        elif name == "BUILD_STRING":
            self._push(instruction, ast.JoinedStr(self._take(instruction.arg or 0)))
        elif name == "COMPARE_OP":
            right, left = self.stack.pop(), self.stack.pop()
            sign = instruction.argrepr.removeprefix("bool(").removesuffix(")")
            self._push(instruction, ast.Compare(left, [_COMPARISONS.get(sign, ast.Eq)()], [right]))
        elif name in ("BUILD_LIST", "BUILD_TUPLE"):
            kind = ast.List if name == "BUILD_LIST" else ast.Tuple
            self._push(instruction, kind(self._take(instruction.arg or 0), ast.Load()))
        elif name == "BUILD_MAP":
            pairs = self._take(2 * (instruction.arg or 0))
            self._push(instruction, ast.Dict(pairs[::2], pairs[1::2]))
        elif name == "BUILD_CONST_KEY_MAP":
            keys = self.stack.pop()
            values = self._take(instruction.arg or 0)
            self._push(instruction, ast.Dict([ast.Constant(key) for key in keys.value], values))
        elif name == "UNPACK_SEQUENCE":
            self._pending, self._targets = instruction.arg or 0, []
        elif name in _STORES:
            self._store(instruction, ast.Name(str(argument), ast.Store()))
        elif name == "STORE_FAST_STORE_FAST":
            for part in argument:
                self._store(instruction, ast.Name(part, ast.Store()))
        elif name == "STORE_FAST_LOAD_FAST":
            self._store(instruction, ast.Name(argument[0], ast.Store()))
            self._push(instruction, ast.Name(argument[1], ast.Load()))
        elif name == "STORE_ATTR":
            self._store(instruction, ast.Attribute(self.stack.pop(), str(argument), ast.Store()))
        elif name == "STORE_SUBSCR":
            key, base = self.stack.pop(), self.stack.pop()
            self._store(instruction, ast.Subscript(base, key, ast.Store()))
        elif name == "FOR_ITER":
            target = ast.Name(_UNKNOWN, ast.Store())
            self._place(instruction, target)
            loop = ast.For(target, self.stack.pop(), [], [])
            self._place(instruction, loop)
            loop.end_lineno = 10**9
            self.body.append(loop)
            self._blocks.append((argument, self.body))
            self.body = loop.body
            self.stack.append(loop)
        elif name == "SWAP":
            self.stack[-1], self.stack[-instruction.arg] = self.stack[-instruction.arg], self.stack[-1]  # type: ignore[operator]
        elif name == "COPY":
            self.stack.append(self.stack[-instruction.arg])  # type: ignore[operator]
        elif name == "RETURN_VALUE":
            returned = self.stack.pop()
            if not _is_none(returned):  # else the end of all code, at the place of its last statement
                self._statement(instruction, ast.Return(returned))
        elif name == "POP_TOP":
            value = self.stack.pop()
            if isinstance(value, ast.expr):
                self._statement(instruction, ast.Expr(value))
        else:
            self._skip(instruction)

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

    def _skip(self, instruction: dis.Instruction) -> None:
        """Skip an instruction that is not read: what it takes stands by itself, and it leaves unknown values."""
        effect = dis.stack_effect(
            instruction.opcode, instruction.arg if instruction.opcode >= dis.HAVE_ARGUMENT else None, jump=False
        )
        if effect < 0:
            for taken in self._take(min(-effect, len(self.stack))):
                if isinstance(taken, ast.Call | ast.BinOp | ast.Subscript):  # of a comprehension, say
                    self._statement(instruction, ast.Expr(taken))
        for _ in range(effect):
            unknown = ast.Name(_UNKNOWN, ast.Load())
            unknown.lineno = unknown.end_lineno = unknown.col_offset = unknown.end_col_offset = 0
            self.stack.append(unknown)
