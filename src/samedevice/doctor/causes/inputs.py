"""What the program passes to a model or a loss: batches, targets, hidden states, containers of tensors."""

import ast
from collections.abc import Sequence

from samedevice.doctor.causes.created_tensors import is_created, is_target
from samedevice.doctor.causes.registry import cause
from samedevice.doctor.causes.rewriting import before_line, in_line
from samedevice.doctor.causes.wanted_device import device_asked_for, device_at
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.lone_tensor import of_the_first_frame
from samedevice.doctor.culprits.operands import Operand
from samedevice.doctor.culprits.owner import ENCODINGS
from samedevice.doctor.edits import Change, Source
from samedevice.introspect import objects, origins
from samedevice.introspect.expressions import text_of
from samedevice.introspect.frames import Call
from samedevice.introspect.values import arguments, value

batch = cause("input_not_moved", is_of_any_mismatch=True)
target = cause("target_not_moved")
hidden_state = cause("hidden_state_not_moved")
container = cause("container_not_moved", is_alone=True)
encoding = cause("tokenizer_batch_on_cpu")
generating = cause("generate_inputs_on_cpu")


@encoding.detect
def is_of_an_encoding(evidence: Evidence) -> bool:
    """Tell whether it is in what a tokenizer or a processor returned, on the CPU."""
    return evidence.operand.device == "cpu" and _encoding(evidence) is not None


@generating.detect
def is_passed_to_generate(evidence: Evidence) -> bool:
    """Tell whether the program passes it to `generate`, on the CPU."""
    if evidence.operand.device != "cpu" or not _runs_in_generate(evidence.failure):
        return False
    passed = [argument.value for argument in arguments(evidence.failure.user_call)]
    return _encoding(evidence) is not None or any(tensor is evidence.operand.tensor for tensor in passed)


@generating.claim
def left_beside_what_was_moved(failure: Failure, likely: Sequence[str], is_mismatch: bool) -> list[Operand] | None:
    """Claim a mismatch in `generate`, if the call passes tensors on the CPU beside others on an accelerator.

    It makes positions from the mask, where that is: they meet the model, but nobody passed them.
    """
    if not is_mismatch or not _runs_in_generate(failure):
        return None
    call = failure.user_call
    passed = [argument for argument in arguments(call) if objects.is_tensor(argument.value)]
    left = [argument for argument in passed if objects.device(argument.value) == "cpu"]
    return [Operand(argument.value, "cpu", call, argument) for argument in left] if len(left) < len(passed) else None


@generating.fix
@encoding.fix
def moved_whole(evidence: Evidence) -> Change | None:
    """Move all of what the tokenizer returned."""
    node = _encoding(evidence)
    if node is None:
        return None
    call, name = evidence.call, text_of(node)
    if isinstance(node, (ast.Name, ast.Attribute)):
        return before_line(call, f"{name} = {name}.to({device_at(evidence, call, call.line)})")
    return in_line(evidence, f"{name}.to({device_at(evidence, call, call.line)})", name)


def _runs_in_generate(failure: Failure) -> bool:
    return failure.runs_below_in("transformers/generation/")


def _encoding(evidence: Evidence) -> ast.expr | None:
    """Return the expression of the tokenizer's batch that a tensor is in: `inputs` of `inputs["input_ids"]`."""
    node = evidence.expression.node
    if not isinstance(node, (ast.Subscript, ast.Attribute)):
        return None
    held_by = value(node.value, evidence.call)
    return node.value if any(objects.is_a(held_by, *kind) for kind in ENCODINGS) else None


@hidden_state.detect
def is_passed_as_hidden_state(evidence: Evidence) -> bool:
    """Tell whether a recurrent layer got it as its hidden state."""
    role = evidence.operand.role
    is_state = role in ("hidden", "state") or "hx" in role
    return is_state and evidence.failure.runs_in("torch/nn/modules/rnn.py")


@target.detect
def is_passed_as_target(evidence: Evidence) -> bool:
    """Tell whether a loss got it as its target."""
    return is_target(evidence)


@batch.detect
def is_passed_in(evidence: Evidence) -> bool:
    """Tell whether it came from a loop, an argument or another call, or was created for a model."""
    return evidence.origin.kind in ("loop", "argument", "call", "other", "moved") or is_created(evidence)


@container.find
def container_without_a_move(failure: Failure) -> list[Operand]:
    """Find the list, tuple or dict that `.to()` was called on."""
    return of_the_first_frame(failure.calls_below[::-1], _containers)


def _containers(call: Call) -> list[Operand]:
    found = []
    for argument in arguments(call):
        if objects.is_one_of(argument.value, dict, list, tuple):
            devices = (objects.device(tensor) for _, tensor in objects.inside(argument.value))
            found.append(Operand(None, next(devices, "cpu"), call, argument))
    return found


@container.fix
def each_moved(evidence: Evidence) -> Change:
    """Move the tensors of the container one by one."""
    name, device = evidence.expression.text, device_asked_for(evidence)
    if objects.is_one_of(evidence.operand.argument.value, dict):
        new = f"{{key: value.to({device}) for key, value in {name}.items()}}"
    else:
        new = f"[value.to({device}) for value in {name}]"
    call = evidence.failure.user_call
    moves = [
        node
        for node in ast.walk(call.statement or ast.Pass())
        if isinstance(node, ast.Call) and origins.is_move(origins.called(node)) and text_of(node.func).startswith(name)
    ]
    return Change(f"{name} = {new}", Source.of_call(call).replaced(moves[0], new) if moves else ())
