"""A library mixes devices itself: it creates a tensor without one, or keeps one where `.to()` does not see it."""

from samedevice.doctor.causes.registry import cause
from samedevice.doctor.causes.rewriting import LONGEST, before_line
from samedevice.doctor.causes.wanted_device import device_at
from samedevice.doctor.culprits.evidence import Evidence, is_of_a_library
from samedevice.doctor.culprits.lone_tensor import refused_tensors
from samedevice.doctor.culprits.writes import is_updated
from samedevice.doctor.edits import Change, Source
from samedevice.introspect.expressions import text_of

library_bug = cause("library_bug")
library_bug.find(refused_tensors)


@library_bug.detect
def is_of_library(evidence: Evidence) -> bool:
    """Tell whether a library created it, or keeps it unregistered, and nobody passed it in."""
    holder = evidence.holder
    if holder is None:
        return evidence.origin_call.in_third_party and evidence.origin.kind not in ("loop", "argument")
    is_kept = bool(evidence.failure.third_party_calls) and evidence.is_unregistered and is_of_a_library(holder)
    return is_kept and not is_updated(evidence, holder)


@library_bug.fix
def moved_or_under_a_default(evidence: Evidence) -> Change:
    """Move what the program can name; else make the wanted device the default, where the library then creates."""
    call = evidence.failure.user_call
    device = device_at(evidence, call, call.line)
    if evidence.holder is not None and evidence.holder.is_named:
        return before_line(call, f"{evidence.holder.expression} = {evidence.holder.expression}.to({device})")
    statement = call.statement
    if statement is None:
        return Change(f"with torch.device({device}): ...")
    source, text = Source.of_call(call), text_of(statement)
    head = f"with torch.device({device}):"
    edits = source.replaced(statement, f"{head}\n    {text}") if source.begins_its_line(statement) else ()
    return Change(f"{head} {text if len(text) <= LONGEST else '...'}", edits)
