"""A tensor that a process group has no backend for, passed to a collective by the program itself."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from samedevice.doctor.causes.inputs import batch
from samedevice.doctor.causes.registry import cause
from samedevice.doctor.culprits.collectives import sent_from_the_cpu
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.operands import Operand, operands_of
from samedevice.doctor.edits import Change
from samedevice.introspect.origins import Origin, called, find_origin

no_backend = cause("group_without_gpu_backend", is_alone=True)


@no_backend.find
def sent_from_a_gpu(failure: Failure) -> list[Operand]:
    """Find what the program passed to the collective: it is where it should be, the group lacks a backend."""
    sent = (operand for operand in _sent(failure) if operand.device != "cpu")
    return [replace(operand, origin=Origin("other", None, None)) for operand in sent]  # as written: `p.grad`


@no_backend.fix
def both_backends(evidence: Evidence) -> Change:
    """Give the group a backend for each of the two; which one it has, its own statement says."""
    return Change('init_process_group("cpu:gloo,cuda:nccl", ...)')


@batch.claim
def passed_on_and_sent(failure: Failure, likely: Sequence[str], is_mismatch: bool) -> list[Operand] | None:
    """Claim a tensor on the CPU that a function got, sends and does not read again: its caller reads what came.

    A copy on the GPU would take the result in its place.
    """
    operands = sent_from_the_cpu(failure)[:-1]
    if not operands or not all(map(_is_for_the_caller, operands)):
        return None
    for operand in operands:
        name = operand.argument.expression.text
        operand.change = Change(f'{name} = {name}.to("cuda")  # where it was made: the caller reads the result from it')
    return operands


def _is_for_the_caller(operand: Operand) -> bool:
    name, call = operand.argument.expression.text, operand.call
    if call.scope is None or find_origin(name, call.scope, call.line).kind != "argument":
        return False
    return not any(
        isinstance(node, ast.Name) and node.id == name and node.lineno > call.line for node in ast.walk(call.scope)
    )


def _sent(failure: Failure) -> Iterator[Operand]:
    """Yield the tensors that the user's own line passes to a function of torch.distributed."""
    call = failure.user_call
    called_here = [below.file.replace("\\", "/") for below in failure.calls_below[-2:-1]]
    is_a_collective = any("torch/distributed/" in file for file in called_here)
    if is_a_collective and isinstance(call.node, ast.Call) and "object" not in called(call.node):
        yield from (operand for operand in operands_of(call) if operand.tensor is not None)
