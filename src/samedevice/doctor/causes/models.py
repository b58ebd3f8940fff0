"""The line to change where a module is at fault: what it has to hold, create once, or be given its values."""

import ast
import copy
from typing import Any

from samedevice.doctor.causes.rewriting import in_line, set_to
from samedevice.doctor.causes.wanted_device import device_at
from samedevice.doctor.culprits.evidence import Suspect
from samedevice.introspect import objects, origins
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call
from samedevice.introspect.origins import origin
from samedevice.introspect.values import value
from samedevice.placement.holders import Holder, held_by_module, stepped


def registered(about: Suspect, held: Holder) -> str:
    made = origins.assigned(held.module, held.name)
    built = text_of(made) if made is not None else f"self.{held.name}"
    is_of_itself = made is not None and f"self.{held.name}" in built
    if held.kind == "attribute":
        return f'self.register_buffer("{held.name}", {built})'
    if held.kind == "partial":
        return set_to(about, f"{about.expression}.to({device_at(about, about.call, about.call.line)})")
    if held.inner is not None:
        return f"self.{held.name} = nn.{'ModuleDict' if held.kind == 'dict' else 'ModuleList'}({built})"
    tensors = [tensor for _, tensor in objects.inside(objects.attributes(held.module).get(held.name))]
    if held.kind == "list" and not is_of_itself and len({objects.shape(tensor) for tensor in tensors}) == 1:
        return f'self.register_buffer("{held.name}", torch.stack({built}))'
    return in_line(about, f"{about.expression}.to({device_at(about, about.call, about.call.line)})")


def created_once(about: Suspect, held: Holder) -> str:
    """The statement for `__init__`, with the sizes that its arguments have now."""
    call = about.scene.place
    module = held.expression.removesuffix(f".{held.name}")
    came = origin(module, call.scope, call.line) if call.scope is not None and held.is_named else None
    match call.node:
        case ast.Call(func=ast.Call() as made) if not held.is_named:
            name = (origins.called(made) or "layer").lower()
        case _:
            made, name = came.value if came else None, module.removeprefix("self.")  # type: ignore[assignment]
    return (
        f"self.{name} = {text_of(_Sizes(call).visit(copy.deepcopy(made)))}  # in __init__" if made is not None else ""
    )


def filled(about: Suspect, held: Holder) -> str:
    """The load that gives meta tensors their values, with assign=True; else room for them."""
    root, call = root_of(about, held)
    for frame in [call, *about.scene.user]:
        for node in ast.walk(frame.scope) if frame.scope is not None else ():
            if not isinstance(node, ast.Call) or text_of(node.func) != f"{root}.load_state_dict":
                continue
            if all(keyword.arg != "assign" for keyword in node.keywords):
                mended = copy.deepcopy(node)
                mended.keywords.append(ast.keyword("assign", ast.Constant(True)))
                return text_of(mended)
    device = next((one for one in about.others if one != "meta"), "") or "cuda"
    root = held.expression.removesuffix(f".{held.name}")  # it alone: the others have their values
    return f'{root}.to_empty(device="{device}")  # then load its weights'


def assigned_below_an_optimizer(about: Suspect, root: str, call: Call) -> str:
    """The load that gave a model other parameters than an optimizer of the frames has, without `assign=True`.

    To move the model would end the error, and it would not learn.
    """
    known = {id(one) for _, module in about.scene.modules() for one in objects.parameters(module)}
    stale = [name for name, optimizer in about.scene.optimizers() if not known & set(map(id, stepped(optimizer)))]
    if not stale:
        return ""
    for frame in [call, *about.scene.user]:
        for node in ast.walk(frame.scope) if frame.scope is not None else ():
            if isinstance(node, ast.Call) and text_of(node.func) == f"{root}.load_state_dict":
                mended = copy.deepcopy(node)
                mended.keywords = [one for one in mended.keywords if one.arg != "assign"]
                if len(mended.keywords) < len(node.keywords):
                    return f"{text_of(mended)}  # without assign=True, or make {stale[0]} after it"
    return ""


def root_of(about: Suspect, held: Holder) -> tuple[str, Call]:
    """The outermost module that holds it, by the name that the outermost user frame has for it, and that frame."""
    best = held.root, about.scene.place
    wanted = {id(about.party.tensor)}
    for call in about.scene.user:
        for name, module in about.scene.named_modules(call):
            if name != "self" and any(one.moves for _, one in held_by_module("", module, wanted)):
                best = name, call
    return best


class _Sizes(ast.NodeTransformer):
    """Numbers in place of the names and shapes that stand for them."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def visit(self, node: ast.AST) -> Any:
        match node:
            case ast.Subscript(value=ast.Attribute(attr="shape", value=of), slice=place):
                pass
            case ast.Call(func=ast.Attribute(attr="size", value=of), args=[place]):
                pass
            case ast.Name() if type(number := value(node, self._call)) is int:
                return ast.Constant(number)
            case _:
                return super().visit(node)
        tensor, index = value(of, self._call), value(place, self._call)
        size = objects.shape(tensor) if objects.is_tensor(tensor) else None
        known = size is not None and type(index) is int and -len(size) <= index < len(size)
        return ast.Constant(size[index]) if known else node  # type: ignore[index]
