"""Tensors and layers that a module or an object keeps in plain Python, where `.to()` does not see them."""

import ast
import re
import sys
from typing import Any

from samedevice.doctor.causes.created_tensors import is_target, replacements
from samedevice.doctor.causes.moved import assigned
from samedevice.doctor.causes.registry import cause
from samedevice.doctor.causes.rewriting import at_the_end_of_init, in_line
from samedevice.doctor.causes.wanted_device import device_at
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.models import is_fed_to_a_model
from samedevice.doctor.culprits.writes import is_updated
from samedevice.doctor.edits import Change, Part, Source
from samedevice.introspect import classes, objects, origins
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call, scope
from samedevice.introspect.libraries import is_library
from samedevice.introspect.namespaces import globals_of, plain
from samedevice.introspect.origins import asks_for_a_device, kind_of
from samedevice.introspect.values import function_of, returns
from samedevice.placement.holders import Holder

unregistered = cause("unregistered_tensor_attribute", is_of_any_mismatch=True)
cached = cause("cached_before_move")
plain_object = cause("kept_by_a_plain_object")
in_a_list = cause("kept_in_a_list")


@cached.detect
def is_kept_from_a_call(evidence: Evidence) -> bool:
    """Tell whether the attribute is None until a call creates it where its input is, and keeps it."""
    holder = evidence.holder
    if holder is None or not evidence.is_unregistered or holder.kind != "attribute":
        return False
    if objects.attribute(holder.module, holder.name) is not evidence.operand.tensor:
        return False
    assignment = origins.assigned_in(holder.module, holder.name, "__init__")
    first = assignment.value if assignment is not None else _none_in_the_class(holder)
    if not isinstance(first, ast.Constant) or first.value is not None:
        return False
    later = [assignment.value for assignment in origins.reassigned(holder.module, holder.name)]
    return any(kind_of(value) == "call" or asks_for_a_device(value) for value in later)


@cached.detect
def is_kept_by_a_function(evidence: Evidence) -> bool:
    """Tell whether a function of the program returned what it keeps in a global from an earlier call."""
    node = evidence.origin.value
    helper = function_of(node.func, evidence.origin_call) if isinstance(node, ast.Call) else None
    if evidence.origin.kind != "call" or helper is None or is_library(plain(helper.__code__.co_filename)):
        return False
    tree = scope(helper.__code__, globals_of(helper))
    if tree is None or not any(asks_for_a_device(inner) for inner in ast.walk(tree) if isinstance(inner, ast.Call)):
        return False
    kept = [result.value for result in returns(helper) if isinstance(result, ast.Subscript)]
    return any(
        isinstance(keeper, ast.Name) and objects.is_one_of(globals_of(helper).get(keeper.id), dict) for keeper in kept
    )


@cached.fix
def none_in_a_buffer(evidence: Evidence) -> Change | None:
    """Write the statement for `__init__`: a buffer that is None stays a buffer when it is given a tensor."""
    if evidence.holder is None:
        return None
    name = evidence.holder.name
    line = f'self.register_buffer("{name}", None, persistent=False)'
    if _none_in_the_class(evidence.holder):
        call = evidence.failure.user_call
        there = at_the_end_of_init(call, line)
        parts = (*there, *_line_in_the_class(call, name)) if there else ()
        return Change(f"{line}  # in __init__, in place of {name} = None", parts)
    assignment = origins.assigned_in(evidence.holder.module, name, "__init__")
    edits = Source.of_method(assignment.method).replaced(assignment.statement, line) if assignment else ()
    return Change(line, edits)


def _none_in_the_class(holder: Holder) -> ast.Constant | None:
    namespaces = [classes.namespace(owner) for owner in classes.mro(type(holder.module))]
    values = [namespace[holder.name] for namespace in namespaces if holder.name in namespace]
    return ast.Constant(None) if values and values[0] is None else None


def _line_in_the_class(call: Call, name: str) -> tuple[Part, ...]:
    """Remove `name = None` from the body of the class whose method a frame is."""
    source, first = Source.of_call(call), call.frame.f_code.co_firstlineno
    for number in range(min(first, len(source.lines)), 0, -1):
        line = source.lines[number - 1].rstrip("\n")
        if line.startswith("class ") or line.lstrip().startswith("class "):
            return ()
        if re.fullmatch(rf"\s+{re.escape(name)}\b[^=]*= None\s*(#.*)?", line):
            return (Part(source, (number, 0), (number, len(line.encode())), ""),)
    return ()


@in_a_list.detect
def is_in_a_list_or_a_dict(evidence: Evidence) -> bool:
    """Tell whether a module holds it in a list or a dict of Python's."""
    return evidence.is_unregistered and evidence.holder is not None and evidence.holder.kind in ("list", "dict")


@unregistered.detect
def is_in_plain_python(evidence: Evidence) -> bool:
    """Tell whether a module holds it otherwise than as a parameter or a buffer."""
    return evidence.is_unregistered


@plain_object.detect
def is_kept_by_an_object(evidence: Evidence) -> bool:
    """Tell whether an object that is no module keeps it, such as a scaler, and it is no batch and no target."""
    holder = evidence.holder
    if holder is None or not evidence.is_of_an_object or evidence.is_between_gpus:
        return False
    is_its_own = holder.module is evidence.failure.user_call.method_of  # a method of that object failed
    came_in = evidence.origin.kind in ("loop", "call") and not is_its_own
    return not (came_in or is_fed_to_a_model(evidence) or is_target(evidence))


@in_a_list.fix
@unregistered.fix
def registered(evidence: Evidence) -> Change | None:
    """Write the statement that registers it: a buffer, a ModuleList or a ModuleDict; else move it."""
    holder = evidence.holder
    if holder is None:
        return None
    name = holder.name
    assignment = origins.assigned(holder.module, name)
    itself = assignment.itself if assignment is not None else "self"
    value = text_of(assignment.value) if assignment is not None else f"{itself}.{name}"
    begins, ends = ("torch.as_tensor(", ")") if _may_be_a_number(assignment) else ("", "")
    value = f"{begins}{value}{ends}"

    def in_its_place(line: str) -> Change:
        lines = _with_the_others(assignment, holder, line, saved) if assignment is not None else ""
        if assignment is None or not lines:
            return Change(line)
        return Change(line, Source.of_method(assignment.method).replaced(assignment.statement, lines))

    # What the code computes was in no file, so that old ones can be loaded as before; a total that it adds to is saved.
    saved = "" if is_updated(evidence, holder) else ", persistent=False"
    # At that line it is not what it becomes later, so nothing can be registered there.
    is_filled_later = assignment is not None and (_is_empty(assignment.value) or _is_before_the_module(assignment))
    if holder.kind == "attribute" and not is_filled_later:
        parameter = _parameter_in(assignment.value) if assignment is not None else None
        if parameter is not None:  # moved, it is no longer a parameter; a buffer would not learn
            return in_its_place(f"{itself}.{name} = {text_of(parameter)}")
        change = in_its_place(f'{itself}.register_buffer("{name}", {value}{saved})')
        if assignment is not None and isinstance(assignment.statement, ast.Assign) and "\n" not in change.text:
            is_alone = len(assignment.statement.targets) == 1 and not isinstance(
                assignment.statement.targets[0], ast.Tuple
            )
            source = Source.of_method(assignment.method)
            head, tail = f'{itself}.register_buffer("{name}", {begins}', f"{ends}{saved})"
            kept = source.passed_to(assignment.statement, head, tail) if is_alone else ()
            change = Change(change.text, kept or change.parts)
        return sum(replacements(evidence), start=change)
    there = f"{evidence.expression.text}.to({device_at(evidence, evidence.call, evidence.call.line)})"
    if holder.kind == "partial":
        return assigned(evidence, there)
    if is_filled_later:
        return assigned(evidence, there)
    if holder.inner is not None:
        if _has_a_key_of_modules(objects.attributes(holder.module).get(name)):
            return Change(there)
        registers = "ModuleDict" if holder.kind == "dict" else "ModuleList"
        return in_its_place(f"{itself}.{name} = nn.{registers}({value})")
    is_of_itself = assignment is not None and f"{itself}.{name}" in value
    tensors = [tensor for _, tensor in objects.inside(objects.attributes(holder.module).get(name))]
    if holder.kind == "list" and not is_of_itself and len({objects.shape(tensor) for tensor in tensors}) == 1:
        return in_its_place(f'{itself}.register_buffer("{name}", torch.stack({value}){saved})')
    return in_line(evidence, there)


def _is_before_the_module(assignment: origins.Assignment) -> bool:
    """Tell whether a statement stands above `super().__init__()`, before which a module can register nothing."""
    tree = scope(assignment.method.__code__, globals_of(assignment.method))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)] if tree is not None else []
    begins = [node.lineno for node in calls if origins.called(node) == "__init__"]
    return assignment.method.__name__ == "__init__" and min(begins, default=0) > assignment.statement.lineno


def _may_be_a_number(assignment: origins.Assignment | None) -> bool:
    """Tell whether what is assigned is an argument that is a number by default, which is no buffer as it is."""
    if assignment is None or not isinstance(assignment.value, ast.Name):
        return False
    code, defaults = assignment.method.__code__, assignment.method.__defaults__ or ()
    given = code.co_varnames[: code.co_argcount]
    by_name = dict(zip(given[len(given) - len(defaults) :], defaults, strict=True))
    by_name |= assignment.method.__kwdefaults__ or {}
    return type(by_name.get(assignment.value.id)) in (int, float)


def _has_a_key_of_modules(kept: Any) -> bool:
    """Tell whether a dict has a key that names something of each module, such as "forward": ModuleDict refuses it."""
    keys = [key for key in dict.keys(kept) if type(key) is str] if objects.is_one_of(kept, dict) else []
    return any(hasattr(sys.modules["torch"].nn.ModuleDict, key) for key in keys)


def _is_empty(value: ast.expr) -> bool:
    """Tell whether an expression is None or an empty container: `[]`, `dict()`, `defaultdict(list)`, `deque()`."""
    match value:
        case ast.Constant():
            return value.value is None
        case ast.List(elts=[]) | ast.Tuple(elts=[]) | ast.Dict(keys=[]):
            return True
        case ast.Call(args=args, keywords=keywords):
            name = origins.called(value)
            return name in ("defaultdict", "deque") or (not (args or keywords) and name in _CONTAINERS)
    return False


_CONTAINERS = (
    "list",
    "dict",
    "tuple",
    "set",
    "OrderedDict",
    "ModuleList",
    "ModuleDict",
    "ParameterList",
    "ParameterDict",
)


def _with_the_others(assignment: origins.Assignment, holder: Holder, line: str, saved: str) -> str:
    """Return the line that takes the place of an assignment to the tensor, with those for what else it assigns to.

    Other tensors that the module keeps beside it become buffers too. It is "" where it cannot be told which value goes
    where.
    """
    statement, itself = assignment.statement, assignment.itself
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if not isinstance(targets[0] if targets else None, ast.Tuple):
        return line if len(targets) < 2 else ""
    kept = objects.attributes(holder.module)
    tensors = {f"{itself}.{name}": name for name, value in kept.items() if objects.is_tensor(value)}
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
            pairs = [(text_of(each), text_of(value)) for each, value in zip(names, values, strict=True)]
            # Assigned one after another, none may need the old value of another.
            if not any(each in value for each, _ in pairs for _, value in pairs):
                lines = {each: f"{each} = {value}" for each, value in pairs}
                lines |= {
                    each: f'{itself}.register_buffer("{tensors[each]}", {value}{saved})'
                    for each, value in pairs
                    if each in tensors
                }
                return "\n".join((lines | {f"{itself}.{holder.name}": line}).values())
    return ""


def _parameter_in(value: ast.expr) -> ast.expr | None:
    """Return the parameter of `nn.Parameter(...).to(device)` and the like: a move makes another tensor of it."""
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
    return next((call for call in calls if origins.called(call) == "Parameter"), None)
