"""What is at fault in a backward, which runs in C++: what a hook returned, a gradient that was left behind."""

import ast
import re
import types
from collections.abc import Iterator
from typing import Any

from samedevice.doctor.causes.rewriting import moved_to, replaced
from samedevice.doctor.culprits.failure import Scene
from samedevice.doctor.culprits.operands import Party
from samedevice.introspect import objects
from samedevice.introspect.expressions import parsed
from samedevice.introspect.frames import scope
from samedevice.introspect.libraries import is_ours
from samedevice.introspect.origins import Origin, origin
from samedevice.introspect.values import Operand
from samedevice.placement.holders import stepped


def returned_by_a_hook(scene: Scene) -> Iterator[Party]:
    """The expression that the hook of the message returned, and the line that returns it where the tensor is."""
    found = re.search(r"hook '([^']+)' has changed the type of value \(was (\S+) got (\S+)\)", scene.text)
    hook, tensor = _named(found[1], scene) if found else (None, None)
    tree = scope(hook.__code__, hook.__globals__) if hook is not None else None
    if found is None or hook is None or tree is None:
        return
    returned = _returned(hook, tree)
    if returned is None:
        return
    came = origin(returned.id, tree, 10**9) if isinstance(returned, ast.Name) else None
    came = came if came is not None and came.value is not None else Origin("other", None, returned)
    wanted = objects.device(tensor) if tensor is not None else _device(found[2])
    given = hook.__code__.co_varnames[: hook.__code__.co_argcount][-1:]
    is_given_anew = not given or origin(given[0], tree, 10**9).kind != "argument"
    device = f'"{wanted}"' if is_given_anew else f"{given[0]}.device"
    text = replaced(tree, returned, moved_to(returned, device))
    yield Party(None, _device(found[3]), scene.place, Operand(returned, None), came=came, mended=text)


def left_behind(scene: Scene) -> Iterator[Party]:
    """The gradients that stayed where their tensors were, as those of `w` do in `w.data = w.data.to(device)`."""
    if not any(
        part in call.file.replace("\\", "/") for call in scene.below for part in ("torch/autograd/", "torch/optim/")
    ):
        return
    for tensor in _leaves(scene):
        kept = objects.tensor_attribute(tensor, "grad")
        if objects.is_tensor(kept) and objects.device(kept) != objects.device(tensor):
            scene.want(tensor)
            held, found = scene.holder(tensor), scene.expression(tensor)
            is_parameter = held is not None and held.moves and held.is_named
            name = held.expression if is_parameter else found[0] if found else ""  # type: ignore[union-attr]
            text = f"{held.root}.zero_grad()" if is_parameter else f"{name}.grad = None"  # type: ignore[union-attr]
            node = parsed(f"{name}.grad")
            if isinstance(node, ast.expr):
                came = Origin("other", None, None)
                yield Party(kept, objects.device(kept), scene.place, Operand(node, kept), came=came, mended=text)


def _leaves(scene: Scene) -> list[Any]:
    """The tensors that the program's names, modules and optimizers have, each once."""
    named = [held for call in scene.user for _, held in scene.names(call)]
    found = [tensor for held in named for _, tensor in objects.inside(held)]
    found += [tensor for _, optimizer in scene.optimizers() for tensor in stepped(optimizer)]
    found += [tensor for _, module in scene.modules() for tensor in objects.parameters(module)]
    return list({id(tensor): tensor for tensor in found}.values())


def _named(name: str, scene: Scene) -> tuple[types.FunctionType | None, Any]:
    """The hook's function, and the tensor that has it where one is at hand."""
    for tensor in _leaves(scene):
        for hook in objects.hooks(tensor):
            function = _function(hook)
            if function is not None and function.__name__ == name:
                return function, tensor
    named = [held for call in scene.user for _, held in scene.names(call)]
    functions = (held for held in named if type(held) is types.FunctionType and held.__name__ == name)
    methods = (objects.method(held, name) for held in named)
    return next(filter(None, (*functions, *methods)), None), None


def _function(hook: Any) -> types.FunctionType | None:
    if type(hook) is types.MethodType:
        hook = hook.__func__
    if type(hook) is not types.FunctionType:
        return None
    code = hook.__code__
    if is_ours(code.co_filename) and "hook" in code.co_freevars:
        # On a simulated GPU a function of the simulation stands around it.
        return _function(hook.__closure__[code.co_freevars.index("hook")].cell_contents)  # type: ignore[index]
    return hook


def _returned(hook: types.FunctionType, tree: ast.AST) -> ast.expr | None:
    """What it returns at its end: the body of a lambda, where the line has only one."""
    if hook.__name__ != "<lambda>":
        returned = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return)]
        return returned[-1] if returned else None
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
    return bodies[0] if len(bodies) == 1 else None


def _device(kind: str) -> str:
    """Of a tensor's type as PyTorch writes it: `torch.cuda.FloatTensor`."""
    named = kind.split(".")
    return named[1] if len(named) == 3 else "cpu"
