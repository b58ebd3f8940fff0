"""A library mixes devices itself: it creates a tensor without one, or keeps one where `.to()` does not see it."""

import ast

from samedevice.doctor.causes.registry import cause
from samedevice.doctor.causes.rewriting import LONGEST, before_line
from samedevice.doctor.causes.sharded import named_with_layers
from samedevice.doctor.causes.wanted_device import device_at
from samedevice.doctor.culprits.evidence import Evidence, is_of_a_library
from samedevice.doctor.culprits.lone_tensor import refused_tensors
from samedevice.doctor.culprits.writes import is_updated
from samedevice.doctor.edits import Change, Source
from samedevice.introspect import objects
from samedevice.introspect.expressions import text_of
from samedevice.introspect.origins import find_origin
from samedevice.introspect.values import returns, value, value_in

library_bug = cause("library_bug")
library_bug.find(refused_tensors)


@library_bug.detect
def is_of_library(evidence: Evidence) -> bool:
    """Tell whether a library created it, or keeps it unregistered, and nobody passed it in."""
    holder = evidence.holder
    if holder is None:
        return evidence.origin_call.in_third_party and evidence.origin.kind not in ("loop", "argument")
    is_kept = evidence.is_unregistered or (evidence.is_of_an_object and _gave_it(evidence))
    is_kept = bool(evidence.failure.third_party_calls) and is_kept and is_of_a_library(holder)
    return is_kept and not is_updated(evidence, holder)


@library_bug.fix
def moved_or_under_a_default(evidence: Evidence) -> Change:
    """Move what the program can name; else make the wanted device the default, where the library then creates.

    A library that asks for "cuda" gets the current GPU, whatever the default device is.
    """
    call = evidence.failure.user_call
    device = device_at(evidence, call, call.line)
    if evidence.holder is not None and evidence.holder.is_named and not _gave_it(evidence):
        return before_line(call, f"{evidence.holder.expression} = {evidence.holder.expression}.to({device})")
    if kept := _kept_by_a_module(evidence):
        return Change(f"{kept} = None  # after the move, if the library fills it anew")
    statement = call.statement
    head = f"with torch.{'cuda.' * evidence.is_between_gpus}device({device}):"
    if statement is None:
        return Change(f"{head} ...")
    source, text = Source.of_call(call), text_of(statement)
    edits = source.replaced(statement, f"{head}\n    {text}") if source.begins_its_line(statement) else ()
    return Change(f"{head} {text if len(text) <= LONGEST else '...'}", edits)


def _gave_it(evidence: Evidence) -> bool:
    """Tell whether the library's method that failed gave its object the tensor, in the same call."""
    name = f"self.{evidence.holder.name}" if evidence.holder is not None else ""
    calls = [call for call in evidence.failure.third_party_calls if call.scope is not None]
    return any(find_origin(name, call.scope, call.line, call.statement).statement is not None for call in calls)  # type: ignore[arg-type]


def _kept_by_a_module(evidence: Evidence) -> str:
    """Write the attribute of a library's module that a method of it returned, as the program reaches it; else "".

    Example: `freqs = self.get_freqs(n)`, where `get_freqs` returns `self.cached_freqs[:n]`.
    """
    origin, call = evidence.origin, evidence.origin_call
    if not isinstance(origin.value, ast.Call) or not isinstance(origin.value.func, ast.Attribute):
        return ""
    owner = value(origin.value.func.value, call)
    method = objects.method(owner, origin.value.func.attr) if objects.is_module(owner) else None
    names = [path for path, module in named_with_layers(evidence.failure) if module is owner]
    for returned in returns(method) if method is not None else ():
        for node in ast.walk(returned):
            kept = value_in(node, owner) if isinstance(node, ast.Attribute) else None
            is_it = objects.is_tensor(kept) and objects.device(kept) == evidence.operand.device
            if is_it and names and isinstance(node, ast.Attribute):
                return f"{names[0]}.{node.attr}"
    return ""
