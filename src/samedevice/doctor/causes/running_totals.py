"""Running totals: a metric or an accumulator that is written to in place, step after step, never moves."""

import ast
import re

from samedevice.doctor.causes.created_tensors import is_created, put_in_a_buffers_place, with_the_device_of_the_old
from samedevice.doctor.causes.moved import assigned
from samedevice.doctor.causes.registry import cause
from samedevice.doctor.causes.rewriting import in_line
from samedevice.doctor.causes.wanted_device import device_at
from samedevice.doctor.culprits.evidence import Evidence, is_of_a_library
from samedevice.doctor.culprits.lone_tensor import refused_tensors
from samedevice.doctor.culprits.models import is_fed_to_a_model, is_in_forward
from samedevice.doctor.culprits.operands import is_joined
from samedevice.doctor.culprits.writes import is_updated, is_written_to
from samedevice.doctor.edits import Change
from samedevice.introspect.expressions import text_of

running_total = cause("metric_or_accumulator_state")
running_total.find(refused_tensors)
reset = cause("running_total_reset")
joined = cause("tensors_of_two_devices_joined")


@running_total.detect
def is_reset_without_a_device(evidence: Evidence) -> bool:
    """Tell whether a method of a metric puts another tensor in the place of a buffer that it adds to."""
    return put_in_a_buffers_place(evidence) is not None and is_updated(evidence, evidence.holder)  # type: ignore[arg-type]


@running_total.detect
def is_state_of_a_metric(evidence: Evidence) -> bool:
    """Tell whether a library's module keeps it as a plain attribute that it adds to."""
    holder = evidence.holder
    return holder is not None and evidence.is_unregistered and is_of_a_library(holder) and is_updated(evidence, holder)


@running_total.detect
def is_state_of_an_object(evidence: Evidence) -> bool:
    """Tell whether an object that is no module adds to it."""
    if evidence.holder is None or not evidence.is_of_an_object:
        return False
    is_batch = evidence.origin.kind in ("loop", "call") or is_fed_to_a_model(evidence)
    return is_written_to(evidence) or (not is_batch and is_updated(evidence, evidence.holder))


@reset.detect
def is_reset_in_a_loop(evidence: Evidence) -> bool:
    """Tell whether the loop that adds to it puts a new one in its place, further below."""
    statement, call = evidence.origin.statement, evidence.origin_call
    is_below = isinstance(statement, ast.Assign) and call is evidence.call and statement.lineno > call.line
    return is_below and grows_in_a_loop(evidence)


@running_total.detect
def grows_in_a_loop(evidence: Evidence) -> bool:
    """Tell whether the program created it before a loop that adds to it."""
    origin, call = evidence.origin, evidence.origin_call
    if isinstance(origin.statement, ast.For):
        return False  # a new one in each step
    if (origin.kind != "created" and not isinstance(origin.value, ast.List | ast.Dict)) or is_in_forward(evidence):
        return False
    node = evidence.failure.user_call.node
    if isinstance(node, ast.AugAssign) and evidence.operand.argument.node is node.target:
        return True
    if call.scope is None or origin.statement is None:
        return False
    name = re.match(r"\w+", evidence.origin_name)
    if isinstance(origin.value, ast.List) and name is not None and _is_appended_to(name[0], call.scope):
        return True
    return any(
        isinstance(loop, (ast.For, ast.While))
        and loop.lineno <= call.line <= (loop.end_lineno or 0)
        and origin.statement not in ast.walk(loop)
        and _is_given_in(loop, evidence.origin_name)
        for loop in ast.walk(call.scope)
    )


@running_total.fix
def reset_on_its_device(evidence: Evidence) -> Change | None:
    """Write the reset with the device of the buffer that it replaces."""
    return with_the_device_of_the_old(evidence)


@joined.detect
def is_in_a_list_of_two_devices(evidence: Evidence) -> bool:
    """Tell whether the list that the failing line makes one tensor of holds tensors of two devices itself."""
    node = evidence.operand.argument.node
    is_kept = isinstance(node, ast.Name | ast.Attribute)
    return is_kept and is_joined(evidence.operand) and all(o.argument.node is node for o in evidence.other_operands)


@joined.detect
def is_in_a_joined_list(evidence: Evidence) -> bool:
    """Tell whether it is in a list that the failing line makes one tensor of, and nobody just created it."""
    return is_joined(evidence.operand) and not is_created(evidence)


@joined.fix
def all_on_one_device(evidence: Evidence) -> Change:
    """Write the failing line with each tensor of the list on one device; else with this one there."""
    device = device_at(evidence, evidence.call, evidence.call.line)
    move = "cpu()" if evidence.other_devices == ("cpu",) else f"to({device})"
    name = evidence.expression.text
    of_a_list = re.fullmatch(r"(.+)\[\d+\]", name)
    if of_a_list:
        whole = in_line(evidence, f"[tensor.{move} for tensor in {of_a_list[1]}]", of_a_list[1])
        if whole.parts or not whole.text.startswith("["):
            return whole
    return assigned(evidence, f"{name}.{move}")


def _is_appended_to(name: str, tree: ast.AST) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr in ("append", "extend") and ast.unparse(node.value) == name
        for node in ast.walk(tree)
    )


def _is_given_in(loop: ast.AST, name: str) -> bool:
    """Tell whether a loop assigns to a name, or writes to it in place."""
    for node in ast.walk(loop):
        match node:
            case ast.AugAssign(target=target) if name in ast.unparse(target):
                return True
            case ast.Assign(targets=[target], value=new) if name in ast.unparse(target) and _takes_in(new, name):
                return True
            case ast.Call(func=ast.Attribute(attr=method, value=base)) if method.endswith("_"):
                if text_of(base) == name:
                    return True
    return False


def _takes_in(new: ast.expr, name: str) -> bool:
    """Tell whether a new value is made of the old one and of something else: a view of the old one is no total."""
    names = {ast.unparse(node) for node in ast.walk(new) if isinstance(node, ast.Name | ast.Attribute)}
    roots = {other.partition(".")[0] for other in names if not other.startswith(name)}
    return name in names and bool(roots - {"torch", "F", "nn"})
