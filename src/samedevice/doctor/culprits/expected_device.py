"""Where the value of an expression must be that nobody kept: its receiver's device, the one it names, the default."""

import ast
import sys
import types
from typing import Any

from samedevice.introspect import objects, origins
from samedevice.introspect.frames import Call, scope
from samedevice.introspect.libraries import is_library
from samedevice.introspect.namespaces import globals_of, plain
from samedevice.introspect.objects import MISSING
from samedevice.introspect.origins import device_argument, find_origin, kind_of
from samedevice.introspect.values import function_of, returns, value, value_in

# Who decides the device of a result that may be on another one than what the function is given.
_ELSEWHERE = ("default", "data", "size", "cpu", "move", "argument")


def receiver(node: ast.expr, call: Call) -> tuple[ast.expr, Any] | None:
    """Find the tensor that an expression like `x.float().view(-1)` starts with, whose value nobody kept."""
    while value(node, call) is MISSING:
        outer = node
        match node:
            case ast.Call(func=ast.Attribute(value=inner)) | ast.Subscript(value=inner) | ast.Attribute(value=inner):
                node = inner
            case ast.UnaryOp(operand=inner):
                node = inner
            case ast.BinOp():
                return receiver(node.left, call) or receiver(node.right, call)
            case ast.Compare():
                starts = (receiver(side, call) for side in (node.left, *node.comparators))
                return next(filter(None, starts), None)
            case _:
                return None
        if isinstance(outer, ast.Attribute) and (tensor := _of_a_property(outer, call)) is not None:
            return outer, tensor
    tensor = value(node, call)
    return (node, tensor) if objects.is_tensor(tensor) else None


def _of_a_property(node: ast.Attribute, call: Call) -> Any:
    """Return the tensor that a property starts with: `self.x` for `return self.x.exp()`; else None."""
    owner = value(node.value, call)
    getter = objects.getter(owner, node.attr) if owner is not MISSING else None
    returned = returns(getter) if getter is not None else []
    inner = returned[0] if len(returned) == 1 else None
    while isinstance(inner, (ast.Call, ast.Attribute)):
        tensor = value_in(inner, owner)
        if objects.is_tensor(tensor):
            return tensor
        inner = inner.func if isinstance(inner, ast.Call) else inner.value
    return None


def expected_device(node: ast.expr, call: Call) -> str:
    """Return the device on which the value of an expression must be; "" where that is not known."""
    known = value(node, call)
    if known is not MISSING:
        return next((objects.device(tensor) for _, tensor in objects.inside(known)), "")
    match node:
        case ast.Call():
            return _of_a_call(node, call)
        case ast.BinOp():
            return _of_sides([node.left, node.right], call)
        case ast.Compare():
            return _of_sides([node.left, *node.comparators], call)
        case ast.ListComp(elt=item, generators=[ast.comprehension(iter=over), *_]):
            is_known = kind_of(item) in ("created", "moved")
            return expected_device(item if is_known else over, call)
        case (
            ast.UnaryOp(operand=inner)
            | ast.Subscript(value=inner)
            | ast.Attribute(value=inner)
            | ast.Starred(value=inner)
        ):
            return expected_device(inner, call)
    return ""


def _of_a_call(node: ast.Call, call: Call) -> str:
    """Return the device of the result of a factory, a move, a function of the program, a module or an operation."""
    named = device_argument(node)
    if named is not None:
        return device_named(named, call)
    base = node.func.value if isinstance(node.func, ast.Attribute) else None
    match kind_of(node), node.func:
        case "created", _:
            return _where_created(node, call)
        case "moved", ast.Attribute(attr="cpu"):
            return "cpu"
        case "moved", ast.Attribute(attr=move, value=moved):
            if node.args:
                return device_named(node.args[0], call)
            return "cuda:0" if move == "cuda" else expected_device(moved, call)
    helper = function_of(node.func, call)
    if helper is not None and _makes_by_default(helper):
        return default_device()
    if helper is not None and (device := moved_to_by(helper)):
        return device
    called = value(node.func, call)
    if objects.is_module(called):
        return next((objects.device(tensor) for tensor in objects.parameters(called)), "")
    given = [base, *node.args] if base is not None else node.args
    return next(filter(None, (expected_device(argument, call) for argument in given)), "")


def _where_created(node: ast.Call, call: Call) -> str:
    """Return the device on which a call without `device=` creates its result."""
    if not origins.creates(node):  # `torch.zeros(3).float()`, `torch.triu(torch.ones(3, 3))`
        before_the_dot = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        inner = next(part for part in [*before_the_dot, *node.args] if kind_of(part) == "created")
        return expected_device(inner, call) or default_device()
    decides = origins.decided_by(origins.called(node))
    data = value(node.args[0], call) if decides in ("data", "cpu") and node.args else MISSING
    if objects.is_tensor(data):  # torch.Tensor(x) is where `x` is, too
        return objects.device(data)
    return "cpu" if decides in ("cpu", "size") else default_device()


def is_told_by_source(node: ast.expr, call: Call) -> bool:
    """Tell whether the source says where a value is.

    It does for a factory or a move, here or in a helper function, and for a view of a tensor. A layer's parameters, and
    the arguments of a function, only make it likely where the result is.
    """
    if kind_of(node) in ("created", "moved"):
        return True
    match node:
        case ast.Call():
            if _is_computed_where_its_arguments_are(node, call):
                return True
            helper = function_of(node.func, call)
            if helper is None:
                return False
            is_told = all(value(argument, call) is not MISSING for argument in node.args) and _only_computes(helper)
            return is_told or _makes_by_default(helper) or bool(moved_to_by(helper))
        case ast.BinOp():
            return all(
                value(side, call) is not MISSING or is_told_by_source(side, call) for side in (node.left, node.right)
            )
        case ast.UnaryOp(operand=inner) | ast.Subscript(value=inner) | ast.Attribute(value=inner):
            return value(inner, call) is not MISSING or is_told_by_source(inner, call)
    return False


def _is_computed_where_its_arguments_are(node: ast.Call, call: Call) -> bool:
    """Tell whether PyTorch computes a value from tensors that are known: `torch.stack(rows)`, `x.mean(0)`."""
    if origins.decided_by(origins.called(node)) in _ELSEWHERE or not isinstance(node.func, ast.Attribute):
        return False
    base = value(node.func.value, call)
    if objects.is_one_of(base, types.ModuleType):
        is_of_torch = objects.attributes(base).get("__name__") in ("torch", "torch.nn.functional", "torch.special")
        return is_of_torch and bool(node.args) and _is_known(node.args[0], call)
    is_of_a_tensor = objects.is_tensor(base) or (base is MISSING and isinstance(node.func.value, ast.Call))
    return is_of_a_tensor and _is_known(node.func.value, call)


def _is_known(node: ast.expr, call: Call) -> bool:
    return bool(objects.inside(found)) if (found := value(node, call)) is not MISSING else is_told_by_source(node, call)


def _of_sides(nodes: list[ast.expr], call: Call) -> str:
    """Return the device of an operator's result: a number on the CPU may join what is elsewhere."""
    sides = [expected_device(node, call) for node in nodes]
    return next((side for side in sides if side not in ("", "cpu")), next(filter(None, sides), ""))


def device_named(node: ast.expr, call: Call) -> str:
    """Return the device that an expression names: text, a number, a torch.device, the `.device` of a tensor."""
    named = value(node, call)
    if named is MISSING and isinstance(node, ast.Attribute) and node.attr == "device":
        return expected_device(node.value, call)
    if objects.is_tensor(named):
        return objects.device(named)
    if type(named) is int:
        return f"cuda:{named}" if named >= 0 else ""
    text = str(named) if type(named) is str or objects.is_device(named) else ""
    return "cuda:0" if text == "cuda" else text


def _makes_by_default(helper: types.FunctionType) -> bool:
    """Tell whether all that a function of the program returns is created in it without a device."""
    if is_library(plain(helper.__code__.co_filename)):
        return False
    results = _results(helper)
    return bool(results) and all(
        result is not None
        and kind_of(result) == "created"
        and all(device_argument(node) is None for node in ast.walk(result) if isinstance(node, ast.Call))
        for result in results
    )


def _only_computes(helper: types.FunctionType) -> bool:
    """Tell whether a function of the program creates and moves nothing, and takes nothing of an object's or of others.

    Then its result is where its arguments are.
    """
    tree = scope(helper.__code__, globals_of(helper))
    if tree is None or is_library(plain(helper.__code__.co_filename)):
        return False
    nodes = list(ast.walk(tree))
    given = set(helper.__code__.co_varnames)
    read = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    outside = [globals_of(helper).get(name) for name in read - given]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    is_plain = all(outer is None or objects.is_one_of(outer, types.ModuleType, float, int) for outer in outside)
    names = [origins.called(node) for node in calls]
    stays = all(origins.decided_by(name) not in _ELSEWHERE and name not in ("numpy", "device") for name in names)
    return is_plain and "self" not in given and stays


def moved_to_by(helper: types.FunctionType) -> str:
    """Return the device to which a function of the program moves all that it returns; "" where it is not written."""
    if is_library(plain(helper.__code__.co_filename)):
        return ""
    devices = {_written_device(result) for result in _results(helper)}
    return devices.pop() if len(devices) == 1 else ""


def _written_device(result: ast.expr | None) -> str:
    """Return the device of `x.cuda()`, `x.cpu()`, `x.to("cuda:1")` and `f(device="cuda")`; "" for anything else."""
    match result:
        case ast.Call(func=ast.Attribute(attr="cuda"), args=[], keywords=[]):
            return "cuda:0"
        case ast.Call(func=ast.Attribute(attr="cpu")):
            return "cpu"
        case ast.Call(func=ast.Attribute(attr="to"), args=[ast.Constant(value=str(device))]):
            return "cuda:0" if device == "cuda" else device
        case ast.Call():
            named = device_argument(result)
            if isinstance(named, ast.Constant) and type(named.value) is str:
                return "cuda:0" if named.value == "cuda" else named.value
    return ""


def _results(helper: types.FunctionType) -> list[ast.expr | None]:
    """Return the expressions that a function returns, and in place of a name what the function assigned to it."""
    tree = scope(helper.__code__, globals_of(helper))
    return [
        find_origin(node.id, tree).value if isinstance(node, ast.Name) and tree else node for node in returns(helper)
    ]


def default_device() -> str:
    device = str(sys.modules["torch"].get_default_device())
    return "cuda:0" if device == "cuda" else device
