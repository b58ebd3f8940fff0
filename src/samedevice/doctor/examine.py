"""From an exception whose frames are still alive to the tensor at fault: it looks, and runs nothing of the program's.

scene       what stands in all the frames, and how the program calls it
lone        what is at fault where no two tensors met
trail       the same through the arguments of calls
expected    where a value is that nobody kept
suspects    which tensors met, and which is in the wrong place
retold      what ran where no frame is left
backward    what is at fault in a backward
files       what is at fault where a file was loaded
about       what is known of one of them
owners      who holds it, in a few words
verdict     why it is there, as a cause of the catalog
vain        whether it was moved in vain
moves       what was done to the model that holds it
anew        whether a method of its module made it
totals      whether it is a running total
mending     the line to change
modules     that of a module
arrays      that where NumPy was met
rewriting   a statement with another expression in it
wanted      the device that it names
"""

from dataclasses import dataclass

from samedevice.catalog import load
from samedevice.doctor.causes.device_names import data_parallel, is_gathering, is_lone, lone_suspects
from samedevice.doctor.causes.gradients import left_behind
from samedevice.doctor.causes.inputs import cause
from samedevice.doctor.causes.mending import fix
from samedevice.doctor.culprits.evidence import suspect
from samedevice.doctor.culprits.failure import Scene
from samedevice.doctor.culprits.operands import is_told, parties, suspects
from samedevice.doctor.culprits.owner import owner
from samedevice.doctor.culprits.quoted_frames import returned_by_replicas
from samedevice.introspect import exceptions, objects
from samedevice.introspect.frames import calls

# Causes in which no tensor is at fault but the name of a device, or a file that has one.
_ASKS = {
    "device_ordinal_unavailable", "misspelt_device", "no_cuda_build_or_driver", "legacy_constructor_device",
    "checkpoint_map_location",
}  # fmt: skip


@dataclass(frozen=True)
class Culprit:
    """A tensor in the wrong place.

    Attributes:
        expression: as it is written in the source: "labels", "self.scale", "criterion.weight".
        device: where it is: "cpu", "cuda:1".
        shape: its shape, or None where it is not known.
        owner: who holds it, and how: "plain attribute of Net", "loop variable of a DataLoader".
        cause: the id of the cause.
        fix: the line to change, in the program's own names.
        case: the id of a narrower cause that is known, such as "registered_after_move" of "model_not_moved", else "".
    """

    expression: str
    device: str
    shape: tuple[int, ...] | None
    owner: str
    cause: str
    fix: str
    case: str = ""

    @property
    def sentence(self) -> str:
        """What it is, where and whose, in one sentence."""
        if self.cause in _ASKS and self.shape is None:
            asked = "a device that is not there" if self.device == "unknown" else self.device
            return f"`{self.expression}` asks for {asked}."
        size = f", of shape {self.shape}," if self.shape is not None else ""
        if self.cause == "ddp_unused_parameters":
            return f"`{self.expression}`{size} had no part in the loss."
        return f"`{self.expression}`{size} is on {self.device}: {self.owner}."


def culprits(error: BaseException, likely: list[str], is_mismatch: bool) -> tuple[Culprit, ...]:
    """The tensors at fault in an error whose frames are alive, most suspect first.

    Arguments:
        error: it.
        likely: the causes that its text speaks for, likeliest first.
        is_mismatch: whether the text is of those that many causes have: two tensors met.
    """
    # `except RuntimeError as error: raise StepError(f"in {step}: {error}")`: the frames are those of the first.
    message = exceptions.message(error)
    quoted = [cause for cause in exceptions.chain(error) if (text := exceptions.message(cause)) and text in message]
    error = quoted[-1] if quoted else error
    frames = calls(error)
    if not frames:
        return ()
    scene = Scene(frames, exceptions.message(error))
    met = parties(scene)
    scene.wanted |= {id(party.tensor) for party in met}
    first = likely[0] if likely else "library_bug"
    if "in replica" in scene.text and data_parallel(scene) is not None:
        # Its frames are gone: PyTorch raises a new error from their text.
        wrong, is_mismatch, first = [], False, "data_parallel_unreplicated_state"
    elif is_gathering(scene):
        joined, first = returned_by_replicas(data_parallel(scene), scene, likely)
        wrong, is_mismatch = [joined] if joined else [], False
    else:
        wrong = [] if is_lone(first) and not is_mismatch else suspects(met, scene)
    found: dict[str, Culprit] = {}
    if is_mismatch and (behind := list(left_behind(scene))):
        wrong, is_mismatch, first = behind, False, "grad_device"
    if is_mismatch and not is_told(met):
        return ()
    wrong_or_lone = wrong or lone_suspects(scene, first)
    scene.wanted |= {id(party.tensor) for party in wrong_or_lone}
    for party in wrong_or_lone[:5]:
        about = suspect(party, met, scene, tuple(likely))
        named = cause(about) if wrong and is_mismatch else first
        size = objects.shape(about.party.tensor) if about.party.tensor is not None else None
        line = fix(about, named)
        # One line mends them all: the layer's bias beside its weight, the next tensor of a list.
        wider = load().causes[named].within
        culprit = Culprit(
            about.expression, party.device, size, owner(about), wider or named, line, named if wider else ""
        )
        found.setdefault(line, culprit)
    return tuple(found.values())
