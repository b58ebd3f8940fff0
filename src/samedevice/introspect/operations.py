"""What a line of code does: its operations, with PyTorch's names for their arguments.

docs/assets/doctor/operations.js does the same in the browser.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from samedevice.catalog import Operation, load
from samedevice.introspect.lines import Line
from samedevice.introspect.origins import called

TORCH = ("torch", "th", "pt")
_FUNCTIONAL = (*TORCH, "F", "functional", "nn.functional", "torch.nn.functional", "torch.linalg")
_IN_PYTHON = ("F", "functional", "nn.functional", "torch.nn.functional")  # PyTorch shows a frame of its own for these
_IN_CPP = (  # of torch.nn.functional, in the releases of today
    "bilinear", "channel_shuffle", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "cosine_similarity", "linear", "one_hot", "pairwise_distance", "pdist", "prelu",
    "scaled_dot_product_attention",
)  # fmt: skip
_IN_PYTHON_TOO = ("einsum", "stft", "istft", "cdist", "tensordot", "norm", "meshgrid")
_METHODS = ("forward", "__call__", "generate", "predict", "encode", "decode", "sample", "encode_image", "encode_text")
_CLASS = re.compile(r"[A-Z][a-z]", re.ASCII)  # begins the name of a class, but not that of a GAN's `G` and `D`
# Begins the name of a function that is no module: `get_feature(model, x)`, `train_step(batch)`.
_VERB = re.compile(
    r"_*(?:get|set|compute|calc\w*|make|create|build|load|save|read|write|train|test|eval\w*|validat\w*|run|main|fit"
    r"|predict|infer|inference|process|preprocess|extract|apply|step|update|convert|to|collate|plot|draw|show|sample"
    r"|log|find|check|prepare|init|initialize|print|reset|append|add|rotate|split|merge|augment)(?:_\w*)?$",
    re.ASCII,
)
# What begins like a verb and is a module: `self.to_qkv`, `self.init_conv`, `self.reset_gate`.
_LAYER_LIKE_A_VERB = re.compile(
    r"to_(?:q|k|v|kv|qkv|out|logits|patch\w*)(?:_\w+|\d*)$"
    r"|(?:add|init|merge|predict|process|reset|sample|split|update)_(?:\w*_)?(?:conv|gate|proj|linear|layer|norm|block|head|mlp|fc)\d*$",
    re.ASCII,
)
_MODEL = re.compile(r"(?:\w{1,40}_)?(?:model|net|network|extractor|encoder|decoder|backbone)$", re.ASCII)
# What modules are called that have no tensors.
WITHOUT_WEIGHTS = re.compile(
    r"(?:max|avg|average|mean|adaptive|global)_?\w*pool|^pool(?:ing)?\d*$|(?<!p)relu|gelu|sigmoid|tanh|softmax|drop"
    r"|identity|flatten|^act(?:_|\d|ivation|$)|^pad(?:_|$|ding$)",
    re.ASCII | re.IGNORECASE,
)
_A_MODULE = re.compile(
    r"model|net|module|encoder|decoder|layer|linear|conv|proj|norm(?!al)|^bn|^ln|embed|emb$|head|lstm|gru|rnn|cell|att(?:n|ention)"
    r"|block|backbone|stem|critic|actor|policy|generator|discriminator|teacher|student|classifier|scorer|mlp|^fc|mha|^act"
    r"|relu|pool|drop|stack|expert|gate|^wte$|^wpe$|table|^to_(?:q|k|v|kv|qkv|out)(?:_|$)",
    re.ASCII | re.IGNORECASE,
)
LOSS = re.compile(r"loss|criterion|cross_entropy|crit\b|objective|^b?ce(?:_|$)|^mse(?:_|$)|^nll", re.ASCII)
BUILTINS = (  # of Python's: neither modules nor tensors
    "abs", "all", "any", "bool", "callable", "complex", "dict", "divmod", "enumerate", "filter", "float", "format",
    "getattr", "hasattr", "id", "int", "isinstance", "iter", "len", "list", "map", "max", "min", "next", "pow", "print",
    "range", "repr", "reversed", "round", "set", "sorted", "str", "sum", "super", "tuple", "type", "zip",
)  # fmt: skip
# Tensors have no methods of these names, so what stands before the dot is PyTorch: `t.cat([a, b])`.
_NO_METHODS = ("cat", "concat", "concatenate", "stack", "hstack", "vstack", "einsum", "cross_entropy", "mse_loss")
# Keywords of PyTorch's functions for what is no tensor.
_NO_TENSORS = (
    "align_corners", "alpha", "assume_unique", "atol", "batch_first", "beta", "device", "dilation", "dim", "dims",
    "dropout_p", "dtype", "enforce_sorted", "eps", "equal_nan", "equation", "generator", "groups", "hop_length",
    "ignore_index", "inplace", "invert", "is_causal", "keepdim", "label_smoothing", "layout", "memory_format", "mode",
    "n_fft", "normalized_shape", "num_classes", "num_groups", "out", "p", "padding", "padding_idx", "padding_mode",
    "reduce", "reduction", "requires_grad", "right", "rounding_mode", "rtol", "shape", "side", "size", "stride",
    "training", "win_length",
)  # fmt: skip
# What programs call functions or layers of their own.
_NO_NAMES = (
    "add", "where", "sub", "mul", "div", "pow", "take", "eq", "bilinear", "embedding", "linear", "prelu", "layer_norm",
    "group_norm", "batch_norm", "instance_norm", "rms_norm", "dist",
)  # fmt: skip
_ANY_OPERATOR = (
    r"_*(?:add|sub|rsub|mul|div|pow|eq|ne|lt|gt|le|ge|remainder|floor_divide|bitwise_\w+|and|or|xor)(?:_\w*)?"
)

_OF_CONTAINERS = (
    "append", "extend", "insert", "update", "setdefault", "get", "pop", "remove", "add_scalar", "join", "format",
    "write", "info", "debug", "log", "format_map", "startswith", "endswith", "items", "keys", "index", "count",
)  # fmt: skip
_MODULES = (*TORCH, "F", "nn", "np", "numpy", "math", "plt", "random", "os", "sys")

Argument = tuple[str, ast.expr]
Calls = Literal["", "function", "module", "either"]


@dataclass(frozen=True, eq=False)
class LineOperation:
    """An operation of a line.

    Attributes:
        kind: "operator" works element by element; "function" is one of PyTorch's, "method" may be one of a tensor;
            "layer" may be a module; "index" and "assignment" are `x[i]` and `x[i] = y`.
        node: the expression, or the statement of an augmented assignment.
        arguments: what it works on, each after PyTorch's name for it, or after "".
        op: a pattern of what messages call it; "" where they do not say.
        is_elementwise: whether messages name none of its arguments.
        calls: "function" or "module" of PyTorch's where a traceback goes on below the line, in Python; "either" where
            that hangs on its release; else "".
        is_open: whether nothing is known of which argument it is.
    """

    kind: Literal["operator", "function", "method", "layer", "index", "assignment"]
    node: ast.expr | ast.stmt
    arguments: tuple[Argument, ...]
    op: str = ""
    is_elementwise: bool = False
    calls: Calls = ""
    is_open: bool = False

    @property
    def is_in_place(self) -> bool:
        """Whether it writes to its first argument."""
        if (isinstance(self.node, ast.AugAssign) and self.kind == "operator") or self.kind == "assignment":
            return True
        is_a_method = isinstance(self.node, ast.Call) and isinstance(self.node.func, ast.Attribute)
        return is_a_method and called(self.node)[-1:] == "_" and called(self.node)[:1] != "_"  # type: ignore[arg-type]


def operations(line: Line, *, has_losses: bool = False) -> Iterator[LineOperation]:
    """Yield the operations of a line, the outermost first.

    Args:
        line: the line.
        has_losses: whether what may be a module may be a loss.

    Example:
        >>> from samedevice.introspect.lines import read_line
        >>> line = read_line("y = self.fc(x) + b")
        >>> [(each.kind, line.text_of(each.node)) for each in operations(line)]
        [('operator', 'self.fc(x) + b'), ('layer', 'self.fc(x)')]
    """
    for node in ast.walk(line.tree):
        match node:
            case (
                ast.AugAssign(target=left, op=ast.MatMult(), value=right)
                | ast.BinOp(left=left, op=ast.MatMult(), right=right)
            ):
                known = load().operations["matmul"]
                yield LineOperation("function", node, _roles(known.arguments, [left, right], []), known.op)
            case ast.AugAssign(target=target, value=value):
                if isinstance(target, ast.Subscript) and may_be_tensors(
                    target.slice
                ):  # it is read before it is written
                    yield LineOperation("index", target, (("self", target.value), ("index", target.slice)))
                yield LineOperation("operator", node, (("self", target), ("other", value)), _ANY_OPERATOR, True)
            case ast.Assign(targets=[ast.Subscript(value=base, slice=index) as target], value=value) if may_be_tensors(
                index
            ) and not _reads(value, target):
                yield LineOperation("assignment", node, (("self", base), ("values", value)), "index_put", True)
            case ast.BinOp(left=left, right=right):
                yield LineOperation("operator", node, (("self", left), ("other", right)), _ANY_OPERATOR, True)
            case ast.Compare(left=left, ops=ops, comparators=others):
                if not any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in ops):
                    compared = (("self", left), *(("other", other) for other in others))
                    yield LineOperation("operator", node, compared, _ANY_OPERATOR, True)
            case ast.Subscript(value=base, slice=index, ctx=ast.Load()) if may_be_tensors(index):
                yield LineOperation("index", node, (("self", base), ("index", index)))
            case ast.Call():
                yield from _called(node, line, has_losses=has_losses)


def _reads(value: ast.expr, target: ast.Subscript) -> bool:
    """Tell whether a value is made of what it is assigned to, as a dict's entry is: `means[key] = means[key] + x`."""
    is_a_key = isinstance(target.slice, ast.Name)
    written = ast.dump(ast.Subscript(target.value, target.slice, ast.Load()))
    return is_a_key and any(ast.dump(node) == written for node in ast.walk(value) if isinstance(node, ast.Subscript))


def may_be_tensors(index: ast.expr) -> bool:
    """Tell whether what stands in the brackets after a tensor may hold a tensor: no number, no slice, no string."""
    if isinstance(index, ast.Tuple):
        return any(map(may_be_tensors, index.elts))
    if isinstance(index, ast.UnaryOp):
        return may_be_tensors(index.operand)
    return not isinstance(index, ast.Constant | ast.Slice | ast.JoinedStr)


def _called(node: ast.Call, line: Line, *, has_losses: bool) -> Iterator[LineOperation]:
    """Yield what a call does: a function or a method of PyTorch, a loss, or a layer."""
    function, name = node.func, called(node)
    known = load().operations.get(name) if name else None
    owner = line.text_of(function.value) if isinstance(function, ast.Attribute) else ""
    given, keywords = _unpacked(node)
    text = name or line.text_of(function)
    is_an_alias = owner.isidentifier() and name in _NO_METHODS
    # With one argument it is a layer that is called `embedding`, rather than the function.
    is_imported = isinstance(function, ast.Name) and len(given) + len(keywords) > 1 and function.id not in _NO_NAMES
    if known and (owner in _FUNCTIONAL or is_an_alias or is_imported):
        calls = _calls(owner, name)
        roles = _roles(known.arguments, given, keywords, known)
        yield LineOperation("function", node, roles, known.op, known.elementwise, calls, is_open=not known.arguments)
    elif known and isinstance(function, ast.Attribute) and owner != "self":
        roles = _roles(known.arguments, [function.value, *given], keywords, known)
        yield LineOperation("function", node, roles, known.op, known.elementwise)
    elif not known and owner in _FUNCTIONAL and (given or keywords) and name not in load().devices.functions:
        calls = "function" if _calls(owner, name) == "function" else "either"
        op = rf"(?:\w*_)?{re.escape(name)}\w*"
        roles = tuple(("-" if role in _NO_TENSORS else "", each) for role, each in _roles([], given, keywords))
        yield LineOperation("function", node, roles, op, False, calls, is_open=True)
    elif name == "sum" and isinstance(function, ast.Name) and len(given) == 1:
        items = given[0].elts if isinstance(given[0], ast.List | ast.Tuple) else given
        yield LineOperation("operator", node, tuple(("other", item) for item in items), _ANY_OPERATOR, True)
    elif (LOSS.search(text) and (given or keywords)) or (
        has_losses and is_layer(function) and len(given) + len(keywords) > 1
    ):
        roles = _roles(["self", "target", "weight"], given, keywords)
        yield LineOperation("function", node, roles, r"\w*loss\w*|sub|mul|add|pow|\w*entropy\w*", True, "module")
    elif is_layer(function) and (given or keywords) and not any(map(is_a_model, given)):
        passed = _roles(["input"] * len(given), given, keywords)
        yield LineOperation("layer", node, (("module", module_of(function)), *passed), calls="module")
    if isinstance(function, ast.Attribute) and not known and given and _may_be_of_a_tensor(function.attr, owner):
        roles = tuple(("", each) for each in (function.value, *given))
        yield LineOperation("method", node, roles, rf"\w*{re.escape(name)}\w*", is_open=True)


def _may_be_of_a_tensor(method: str, owner: str) -> bool:
    """Tell whether a method may be one of a tensor's in which two meet: none of a list's, and none that only moves."""
    is_a_module = owner in (*_MODULES, *_FUNCTIONAL, "self")
    return not is_a_module and method not in load().devices.methods and method not in _OF_CONTAINERS


def _unpacked(node: ast.Call) -> tuple[list[ast.expr], list[ast.keyword]]:
    """Return what a call is given, with `*(a, b)` and `**{"key": c}` written out."""
    given: list[ast.expr] = []
    for argument in node.args:
        match argument:
            case ast.Starred(value=ast.Tuple(elts=items) | ast.List(elts=items)):
                given += items
            case _:
                given.append(argument)
    keywords: list[ast.keyword] = []
    for keyword in node.keywords:
        match keyword:
            case ast.keyword(arg=None, value=ast.Dict(keys=keys, values=values)):
                names = [str(key.value) if isinstance(key, ast.Constant) else None for key in keys]
                keywords += [ast.keyword(name, value) for name, value in zip(names, values, strict=True)]
            case _:
                keywords.append(keyword)
    return given, keywords


def _calls(owner: str, function: str) -> Calls:
    """Tell whether a function of PyTorch is written in Python, so that its own frame stands in a traceback."""
    if owner in _IN_PYTHON:
        return "either" if function in _IN_CPP else "function"
    return "function" if function in _IN_PYTHON_TOO else ""


def names_a_module(operation: LineOperation) -> bool:
    """Tell whether what a line calls has the name of a module, rather than one that a function may have as well."""
    match operation.arguments[0][1]:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _A_MODULE.search(name) is not None
    return False


def may_be_a_function(operation: LineOperation) -> bool:
    """Tell whether what a line calls is a name, or an attribute, that no module is likely to have."""
    return isinstance(operation.arguments[0][1], ast.Name | ast.Attribute) and not names_a_module(operation)


def is_a_model(node: ast.expr) -> bool:
    """Tell whether a name is that of a model: who is given one is no layer, but a function such as `summary(model)`."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return _MODEL.match(name) is not None


def module_of(function: ast.expr) -> ast.expr:
    """Return the module whose method is called: `model` of `model.generate(ids)`; else what is called itself."""
    is_a_method = isinstance(function, ast.Attribute) and function.attr in _METHODS
    return function.value if is_a_method else function  # type: ignore[attr-defined]


def is_layer(function: ast.expr) -> bool:
    """Tell whether what is called may be a module: `model`, `self.encoder`, `self.layers[0]`, `nn.Linear(3, 4)`."""
    match function:
        case ast.Name(id=name):
            return name not in BUILTINS and _VERB.match(name) is None and not _CLASS.match(name)
        case ast.Subscript():
            return True
        case ast.Call(func=ast.Attribute(value=ast.Call() as created, attr="to" | "cuda" | "eval" | "train")):
            return is_layer(created)
        case ast.Call(func=ast.Attribute(attr=name)):
            return name[:1].isupper()
        case (
            ast.Attribute(value=ast.Name(id="F" | "functional")) | ast.Attribute(value=ast.Attribute(attr="functional"))
        ):
            return False
        case ast.Attribute(attr=name):
            if name in _METHODS or LOSS.search(name) is not None:
                return True
            if name in load().devices.methods:
                return False
            is_a_verb = _VERB.match(name) is not None and _LAYER_LIKE_A_VERB.match(name) is None
            return is_of_self(function) and not is_a_verb
    return False


def _roles(
    names: list[str], given: list[ast.expr], keywords: list[ast.keyword], known: Operation | None = None
) -> tuple[Argument, ...]:
    """Return each argument after its name: the keyword, else the name at its place, else ""; "-" is no tensor."""
    starred = next((at for at, node in enumerate(given) if isinstance(node, ast.Starred)), len(given))
    padded = [*names[:starred], *[""] * (len(given) + 1)]
    named = [(_role(keyword.arg, known) if keyword.arg else "**", keyword.value) for keyword in keywords]
    return (*zip(padded, given, strict=False), *named)


def _role(keyword: str, known: Operation | None) -> str:
    """Return what PyTorch calls what is passed by a keyword of one of its functions."""
    if known is None:
        return keyword
    return "-" if keyword in _NO_TENSORS else known.keywords.get(keyword, keyword)


def is_torch(node: ast.expr, line: Line) -> bool:
    """Tell whether this names PyTorch's module of functions: `torch`, `F`."""
    return line.text_of(node) in _FUNCTIONAL


def is_of_self(node: ast.expr) -> bool:
    """Tell whether an attribute is one of `self`, such as `self.pe` or `self.net.scale`."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return isinstance(node, ast.Name) and node.id == "self"
