"""Whether the code of a model uses a layer: never, in some calls, or in each. It is read, and never run."""

import ast
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from samedevice.introspect import classes, objects
from samedevice.introspect.frames import scope
from samedevice.introspect.libraries import is_library
from samedevice.introspect.namespaces import globals_of, plain
from samedevice.introspect.origins import END
from samedevice.placement.holders import step

# What may use a layer without its name.
_ALL_LAYERS = ("children", "modules", "named_children", "named_modules", "_modules", "getattr", "get_submodule")
# What may be skipped, and where a layer may run without giving a gradient, as in `with torch.no_grad():`.
_BRANCHES = (ast.If, ast.IfExp, ast.While, ast.For, ast.Try, ast.BoolOp, ast.With)


@dataclass(frozen=True)
class Layer:
    """A layer, or a parameter, and how a model's code uses it.

    Attributes:
        path: the way to it from the model, such as ".head" or ".blocks[0]": to the outermost part that is never used.
        use: "never" where no method names it, "sometimes" where it stands in a branch or a loop, else "always".
    """

    path: str
    use: Literal["never", "sometimes", "always"]


def layer_of(parameter: Any, model: Any) -> Layer:
    """Tell how a model's code uses the layer that a parameter is in."""
    path, is_certain = "", True
    for module, key in _way_to(parameter, model) or ():
        path += step(module, key)
        use = _use(module, key)
        if use == "never":
            return Layer(path, "never")
        is_certain = is_certain and use == "always"
    return Layer(path, "always" if is_certain else "sometimes")


def _way_to(parameter: Any, module: Any) -> list[tuple[Any, str]] | None:
    """Return the modules that lead to a parameter, each with the name of the next step."""
    own = objects.attributes(module)
    for name, held in own.get("_parameters", {}).items():
        if held is parameter:
            return [(module, name)]
    for name, child in own.get("_modules", {}).items():
        if child is not None and (way := _way_to(parameter, child)) is not None:
            return [(module, name), *way]
    return None


def _use(module: Any, key: str) -> Literal["never", "sometimes", "always"]:
    """Tell how a module's methods use what it holds by a name; those of a library use all."""
    methods = list(_methods(module))
    if not methods:
        return "always"
    use: Literal["never", "sometimes", "always"] = "never"
    for method in methods:
        tree = scope(method.__code__, globals_of(method))
        if tree is None:
            return "sometimes"
        nodes = list(ast.walk(tree))
        if method.__name__ == "forward" and any(_is_named(node, key) for node in _run_in_each_call(tree)):
            return "always"
        if any(_is_named(node, key) or _stands_for_all(node) for node in nodes):
            use = "sometimes"
    return use


def _run_in_each_call(tree: ast.AST) -> list[ast.AST]:
    """Return what each call of a function comes to: no branch, no loop, nothing below a `return` in one of these."""
    function = next((node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)), tree)
    branches = [node for node in ast.walk(function) if isinstance(node, _BRANCHES)]
    inside = {id(inner) for branch in branches for inner in ast.walk(branch)}
    ends = [node.lineno for node in ast.walk(function) if isinstance(node, ast.Return) and id(node) in inside]
    last = min(ends, default=END)
    return [node for node in ast.walk(function) if id(node) not in inside and getattr(node, "lineno", 0) < last]


def _methods(module: Any) -> Iterator[types.FunctionType]:
    """Yield the methods of the program's own classes that a call of the module may run."""
    for kind in classes.mro(type(module)):
        for name, method in classes.namespace(kind).items():
            is_a_method = name != "__init__" and type(method) is types.FunctionType
            if is_a_method and not is_library(plain(method.__code__.co_filename)):
                yield method


def _is_named(node: ast.AST, key: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == key


def _stands_for_all(node: ast.AST) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name in _ALL_LAYERS
