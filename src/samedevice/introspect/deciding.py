"""Which part of an expression decides on which device its tensor is, as far as the code tells.

docs/assets/doctor/deciding.js does the same in the browser.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from samedevice.catalog import load
from samedevice.introspect.lines import Line
from samedevice.introspect.operations import BUILTINS, TORCH, WITHOUT_WEIGHTS, is_of_self, is_torch
from samedevice.introspect.origins import called, decided_by, device_argument

Kind = Literal["created", "number on the CPU", "on the CPU", "moved", "attribute", "item", "name", "result"]

# The name of what is a number rather than a tensor: `self.hidden_size`, `num_heads`, `epoch`, `eps`.
_A_NUMBER = re.compile(
    r"(?:lr|device|dtype|shape|dim|epochs?|steps?|i|j|seed|inf|pi|use_\w+|n_\w+|\w+_(?:dim|dims|len|length|steps?)"
    r"|(?:batch|hidden|patch|kernel|window|image|img|vocab|embed|head|chunk|block|input|output|state)_size)$",
    re.ASCII,
)
# The name of what is usually a number: `self.gamma`, `temperature`, `eps`.
_OFTEN_A_NUMBER = re.compile(
    r"(?:gamma|discount|eps(?:ilon|_\w+)?|alpha|beta[12]?|tau|temperature|momentum|threshold|margin|decay|eos|n|d|d0|B|T|C|rate|lam|lambd|lambda_|sigma|strength|factor"
    r"|num_\w+|\w+_(?:id|coef\w*|lr|rate|size|factor|ratio|prob|weight_decay|eps))$",
    re.ASCII,
)
_MODULES = (*TORCH, "nn", "F", "np", "numpy", "math", "functional")  # what stands in them is no tensor
_TYPES = ("int", "float", "bool", "complex", "str", "list", "tuple", "dict", "set", "len", "print")
# Without arguments they make one number, which may be on the CPU where the others are on a GPU.
_OF_ALL = ("sum", "mean", "max", "min", "prod", "std", "var", "norm", "median", "any", "all")
_WITH_DIMENSIONS = ("expand", "expand_as", "repeat", "repeat_interleave", "reshape", "unsqueeze", "view", "view_as")
_METHODS = ("sum", "repeat", "clone", "contiguous", "float", "long", "type_as")
_OF_ARGUMENTS = ("abs", "pow")  # functions of Python's that make a tensor of a tensor
_OF_ITEMS = ("max", "min", "next", "sum")  # that make a tensor of a list or an iterator of them
JOINING = ("cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack", "block_diag")  # functions of a list
_CLASS = re.compile(r"[A-Z][a-z]{2}[A-Za-z0-9]*$", re.ASCII)


@dataclass(frozen=True, eq=False)
class Part:
    """The part of an expression that decides where its tensor is.

    Attributes:
        kind: "created" and "on the CPU" are known to be on the CPU; "number on the CPU" is accepted beside tensors on a
            GPU; "moved" is where the code says; of "attribute" (of `self`), "item", "name" and "result" (of a call)
            the code tells nothing.
        node: the part.
        is_one_number: whether it is a tensor without dimensions, which PyTorch accepts on the CPU beside a GPU's.
        is_open: whether it may be one, or be elsewhere: `torch.tensor(x)` of an unknown `x`.
    """

    kind: Kind
    node: ast.expr
    is_one_number: bool = False
    is_open: bool = False

    @property
    def is_on_cpu(self) -> bool:
        """Whether the code tells that it is on the CPU."""
        return self.kind in ("created", "on the CPU") and not self.is_open


def parts(node: ast.expr, line: Line) -> Iterator[Part]:
    """Yield the parts that decide where the tensor of an expression is; none where it is no tensor.

    Args:
        node: the expression.
        line: the line that it is of.

    Example:
        >>> from samedevice.introspect.lines import read_line
        >>> line = read_line("y = torch.zeros(3) + x.T")
        >>> [(part.kind, line.text_of(part.node)) for part in parts(line.tree.body[0].value, line)]
        [('created', 'torch.zeros(3)'), ('name', 'x')]
    """
    match node:
        case ast.Name(id=name):
            if not (_A_NUMBER.match(name) or _CLASS.match(name) or name in ("self", *_TYPES, *line.counters)):
                yield Part("name", node)
        case ast.Attribute():
            yield from _of_an_attribute(node, line)
        case ast.Subscript():
            yield from _of_a_subscript(node, line)
        case ast.Call():
            yield from _of_a_call(node, line)
        case ast.Starred(value=inner):
            yield from parts(inner, line)
        case _:
            found = [part for inner in deciding_parts(node) for part in parts(inner, line)]
            # A number on the CPU is accepted beside a tensor on a GPU, and the result is where the tensor is.
            numbers = [part for part in found if part.is_one_number or part.kind == "number on the CPU"]
            yield from found if len(numbers) == len(found) else [part for part in found if part not in numbers]


def deciding_parts(node: ast.expr) -> list[ast.expr]:
    """Return the expressions of which each may decide where the result is."""
    match node:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.Compare(left=left, comparators=others):
            return [left, *others]
        case ast.IfExp(body=body, orelse=orelse):
            return [body, orelse]
        case ast.BoolOp(values=values):
            return values
        case (
            ast.UnaryOp(operand=inner)
            | ast.NamedExpr(value=inner)
            | ast.Await(value=inner)
            | ast.Starred(value=inner)
            | ast.ListComp(elt=inner)
            | ast.GeneratorExp(elt=inner)
        ):
            return [inner]
    return []


def _of_a_subscript(node: ast.Subscript, line: Line) -> Iterator[Part]:
    """Yield what decides: `batch["image"]` and `outputs[0]` may be items, `x[:, 0]` is a part of a tensor."""
    index = node.slice
    is_item = isinstance(index, ast.Constant | ast.Name | ast.Attribute | ast.JoinedStr | ast.UnaryOp)
    if not is_item or (isinstance(index, ast.Constant) and (index.value is None or index.value is ...)):
        yield from (_shaped(part, "view") for part in parts(node.value, line))
        return
    whole = next(parts(node.value, line), None)
    if whole is not None:
        yield whole if whole.kind in _KNOWN else Part("item", node)


_KNOWN = ("created", "on the CPU", "moved", "number on the CPU")


def _of_an_attribute(node: ast.Attribute, line: Line) -> Iterator[Part]:
    attributes = load().devices.attributes
    if attributes.get(node.attr) == "view":
        yield from parts(node.value, line)
        return
    if isinstance(node.value, ast.Call) and node.attr in ("values", "indices"):  # of `x.max(dim=1)`
        yield from parts(node.value, line)
        return
    names: list[str] = []
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        names.append(inner.attr)
        inner = inner.value
    names.append(inner.id if isinstance(inner, ast.Name) else "")
    is_setting = any(attributes.get(name) in ("facts", "settings") for name in names)
    is_of_a_module = isinstance(node.value, ast.Name) and node.value.id in _MODULES
    # Of a line that was cut.
    is_a_method = not line.is_whole(node) and (node.attr in _METHODS or decided_by(node.attr) in ("view", "move"))
    is_a_limit = isinstance(node.value, ast.Call) and called(node.value) in ("finfo", "iinfo")
    if not is_setting and not is_of_a_module and not is_a_limit and not is_a_method and not _A_NUMBER.match(node.attr):
        yield Part("attribute" if is_of_self(node) else "item", node)


def _of_a_call(node: ast.Call, line: Line) -> Iterator[Part]:
    function, name = node.func, called(node)
    decides = decided_by(name) if isinstance(function, ast.Attribute) or name.endswith("Tensor") else ""
    given = [argument for argument in node.args if not isinstance(argument, ast.Starred)]
    device = device_argument(node)
    if decides == "move":
        yield from _moved(node, name, line)
    elif decides == "argument" or (device is not None and (decides == "like" or is_factory(node))):
        yield Part("on the CPU" if _is_the_cpu(device) else "moved", node)
    elif decides in ("values", "facts"):
        return
    elif is_factory(node):
        yield from _made(node, decides, given, line)
    elif name == "Variable" and given:  # of torch 0.3 and before
        yield from parts(given[0], line)
    elif isinstance(function, ast.Attribute) and is_torch(function.value, line):
        yield from _of_a_function(node, given, line)
    elif isinstance(function, ast.Attribute) and line.text_of(function.value) not in ("np", "numpy", "math"):
        yield from _of_a_method(node, function, decides, line)
    elif isinstance(function, ast.Name) and name in _OF_ARGUMENTS:
        yield from (part for argument in node.args[:1] for part in parts(argument, line))
    elif isinstance(function, ast.Name) and name in _OF_ITEMS:
        items = [item for one in given for item in (one.elts if isinstance(one, ast.List | ast.Tuple) else [one])]
        if any(True for item in items for _ in parts(item, line)):
            yield Part("result", node)
    elif given and WITHOUT_WEIGHTS.search(name) and not isinstance(function, ast.Call):
        yield from parts(given[0], line)  # a module that only computes
    elif isinstance(function, ast.Call | ast.Subscript) or (isinstance(function, ast.Name) and name not in BUILTINS):
        yield Part("result", node)


def _is_the_cpu(device: ast.expr | None) -> bool:
    """Tell whether a device is the CPU: `"cpu"`, `torch.device("cpu")`."""
    match device:
        case ast.Call(args=[given]) if called(device) == "device":
            return _is_the_cpu(given)
        case ast.Constant(value="cpu"):
            return True
    return False


def _moved(node: ast.Call, name: str, line: Line) -> Iterator[Part]:
    """Yield what `.cpu()`, `.cuda()` or `.to(...)` decides; a change of the dtype decides nothing."""
    to = device_argument(node) or (node.args[0] if node.args else None)
    if name == "cpu" or _is_the_cpu(to):
        yield Part("on the CPU", node)
    elif name == "to" and is_dtype(to) and isinstance(node.func, ast.Attribute):
        yield from parts(node.func.value, line)
    else:
        yield Part("moved", node)


def is_dtype(node: ast.expr | None) -> bool:
    """Tell whether an argument of `.to()` names a dtype: `torch.float32`, `x.dtype`; none at all is `dtype=`."""
    match node:
        case None:
            return True
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return name == "dtype" or owner in TORCH
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name == "dtype"
    return False


def _made(node: ast.Call, decides: str, given: list[ast.expr], line: Line) -> Iterator[Part]:
    """Yield what a factory makes without a device."""
    if decides == "data" and given:
        from_data = list(parts(given[0], line)) if not isinstance(given[0], ast.List | ast.Tuple) else []
        if any(part.kind == "moved" for part in from_data):
            yield Part("moved", node)
            return
        if _is_number(given[0], line):
            yield Part("number on the CPU", node, is_one_number=True)
            return
        is_literal = isinstance(given[0], ast.List | ast.Tuple | ast.ListComp)
        yield Part("created", node, is_open=not is_literal)
    elif called(node) == "scalar_tensor" or (given and isinstance(given[0], ast.Tuple) and not given[0].elts):
        yield Part("number on the CPU", node, is_one_number=True)
    else:
        yield Part("created", node)


def is_often_a_number(node: ast.expr) -> bool:
    """Tell whether a name or an attribute is called as what is usually a number rather than a tensor."""
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
            return _OFTEN_A_NUMBER.match(name) is not None or _A_NUMBER.match(name) is not None
    return False


def _is_number(node: ast.expr, line: Line) -> bool:
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int | float | complex)
        case ast.UnaryOp(operand=operand):
            return _is_number(operand, line)
        case ast.BinOp(left=left, right=right):
            return _is_number(left, line) and _is_number(right, line)
        case ast.Call(func=ast.Name(id="len" | "int" | "float" | "bool")):
            return True
        case ast.Call(func=ast.Attribute(attr="item")):
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _A_NUMBER.match(name) is not None
    return False


def _of_a_function(node: ast.Call, given: list[ast.expr], line: Line) -> Iterator[Part]:
    """Yield what decides where the result of a function of PyTorch is: one tensor that it is given, or its call."""
    if called(node) in JOINING and not (given and isinstance(given[0], ast.List | ast.Tuple)):
        yield Part("result", node)
        return
    passed = [*given, *(keyword.value for keyword in node.keywords if keyword.arg not in ("dim", "dtype"))]
    items = [item for one in passed for item in (one.elts if isinstance(one, ast.List | ast.Tuple) else [one])]
    all_of_them = [part for item in items for part in parts(item, line)]
    by_text = {line.text_of(part.node): part for part in reversed(all_of_them)}
    found = [part for part in reversed(by_text.values()) if part.kind != "number on the CPU"]
    if any(part.kind == "moved" for part in found):
        yield Part("moved", node)
    elif made := [part for part in found if part.kind in ("created", "on the CPU")]:
        yield from made
    elif len(found) == 1:
        yield from found
    else:
        yield Part("result", node)


def _of_a_method(node: ast.Call, function: ast.Attribute, decides: str, line: Line) -> Iterator[Part]:
    inner = list(parts(function.value, line))
    is_one = function.attr in _OF_ALL and not node.args and not node.keywords
    is_in_place = function.attr[-1:] == "_" and function.attr[:1] != "_"  # it returns the tensor itself
    if decides in ("view", "copy", "like") or is_in_place or is_one or any(part.kind in _KNOWN for part in inner):
        for part in inner:
            yield _shaped(part, function.attr) if not is_one else Part(part.kind, part.node, True, part.is_open)
    else:
        yield Part("result", node)


def _shaped(part: Part, method: str) -> Part:
    """Return a part after a method, some of which give dimensions to what has none."""
    if method not in _WITH_DIMENSIONS or not part.is_one_number:
        return part
    return Part("created" if part.kind == "number on the CPU" else part.kind, part.node)


def is_factory(node: ast.Call) -> bool:
    """Tell whether a call is one of a factory of torch, which makes a tensor rather than computing one from others."""
    function, name = node.func, called(node)
    match decided_by(name):
        case "size" if len(node.args) < 3 and not any(keyword.arg == "size" for keyword in node.keywords):
            return False
        case "default" | "data" | "size" | "cpu":
            if isinstance(function, ast.Name):
                return name.endswith("Tensor")
            owner = function.value if isinstance(function, ast.Attribute) else None
            if isinstance(owner, ast.Attribute) and owner.attr == "fft":
                owner = owner.value
            return isinstance(owner, ast.Name) and owner.id in TORCH
    return False
