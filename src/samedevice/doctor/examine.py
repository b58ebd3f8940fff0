"""Find the tensors in the wrong place in the frames of an exception, which are still alive: run nothing, only look."""

from collections.abc import Sequence

from samedevice.catalog import load
from samedevice.doctor.causes.libraries import library_bug
from samedevice.doctor.causes.registry import Cause, claimed, detected, known
from samedevice.doctor.culprits.collectives import sent_from_the_cpu
from samedevice.doctor.culprits.evidence import Evidence
from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.gathering import gather
from samedevice.doctor.culprits.operands import Operand, can_tell, find_operands, misplaced
from samedevice.doctor.culprits.owner import owner
from samedevice.doctor.diagnosis import Culprit
from samedevice.introspect import exceptions, objects
from samedevice.introspect.frames import calls

_CULPRITS = 5  # more are not looked at


def find_culprits(error: BaseException, likely: Sequence[str], is_mismatch: bool) -> tuple[Culprit, ...]:
    """Return the tensors in the wrong place, most suspect first.

    Args:
        error: the exception; its frames are alive.
        likely: the ids of the causes that its text suggests, the most likely first.
        is_mismatch: whether its text only says that tensors on two devices met, which many causes have.
    """
    error = _first_told(error)
    frames = calls(error)
    if not frames:
        return ()
    failure = Failure(frames, exceptions.message(error), exceptions.remote(error) or exceptions.message(error))
    sent = sent_from_the_cpu(failure)
    operands = sent or find_operands(failure)
    failure.wanted |= {id(operand.tensor) for operand in operands}
    by_message = known(likely[0]) if likely else library_bug
    wrong, cause = _wrong_operands(failure, operands, likely, by_message, is_mismatch or bool(sent))
    failure.wanted |= {id(operand.tensor) for operand in wrong}
    culprits: dict[str, Culprit] = {}
    for operand in wrong[:_CULPRITS]:
        evidence = gather(operand, operands, failure, tuple(likely))
        culprit = _culprit(evidence, cause or detected(evidence) or by_message)
        # One line fixes all that have it: the layer's bias beside its weight, the next tensor of a list.
        culprits.setdefault(culprit.fix, culprit)
    return tuple(culprits.values())


def _first_told(error: BaseException) -> BaseException:
    """Return the error that this one quotes, if any: the frames are those of the quoted one.

    For example `except RuntimeError as error: raise StepError(f"in {step}: {error}")`.
    """
    message = exceptions.message(error)
    quoted = [inner for inner in exceptions.chain(error) if (text := exceptions.message(inner)) and text in message]
    return quoted[-1] if quoted else error


def _wrong_operands(
    failure: Failure, operands: list[Operand], likely: Sequence[str], by_message: Cause, is_mismatch: bool
) -> tuple[list[Operand], Cause | None]:
    """Return what is in the wrong place, and the cause of it all; None where each one's cause is to be detected."""
    claim = claimed(failure, likely, is_mismatch)
    if claim is not None:
        return claim[1], claim[0]
    if is_mismatch and not can_tell(operands):
        return [], by_message
    compared = misplaced(operands, failure) if is_mismatch or not by_message.is_alone else []
    if compared:
        return compared, None if is_mismatch else by_message
    for cause in [by_message, *map(known, likely[1:])] if is_mismatch else [by_message]:
        if found := cause.found_in(failure):
            return found, cause
    return [], by_message


def _culprit(evidence: Evidence, cause: Cause) -> Culprit:
    tensor, expression, device = evidence.operand.tensor, evidence.expression.text, evidence.operand.device
    shape = objects.shape(tensor) if tensor is not None else None
    held_by = owner(evidence)
    wider = load().causes[cause.id].within
    change = cause.change(evidence)
    return Culprit(
        expression=expression,
        device=device,
        shape=shape,
        owner=held_by,
        cause=wider or cause.id,
        fix=change.text,
        case=cause.id if wider else "",
        sentence=cause.sentence(expression, device, shape, held_by),
        edits=change.edits,
    )
