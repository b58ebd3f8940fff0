"""From an exception whose frames are still alive to the tensor at fault: it looks, and runs nothing of the program's.

stack       the frames, each with the expression that failed
values      what an expression stands for
safely      facts about objects, without their code
holders     how modules and optimizers hold a tensor
scene       what stands in all the frames, and how the program calls it
lone        what is at fault where no two tensors met
origins     where a name got its value
suspects    which tensors met, and which is in the wrong place
verdict     why, as a cause of the catalog, and the line to change
"""

from dataclasses import dataclass

from samedevice.doctor.live import safely
from samedevice.doctor.live.lone import data_parallel, gathered, is_lone, lone_suspects
from samedevice.doctor.live.scene import Scene
from samedevice.doctor.live.stack import calls
from samedevice.doctor.live.suspects import parties, suspects
from samedevice.doctor.live.text import message_of
from samedevice.doctor.live.verdict import cause, fix, owner, returned_on_cpu, suspect


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
    """

    expression: str
    device: str
    shape: tuple[int, ...] | None
    owner: str
    cause: str
    fix: str

    @property
    def sentence(self) -> str:
        """What it is, where and whose, in one sentence."""
        size = f", of shape {self.shape}," if self.shape is not None else ""
        return f"`{self.expression}`{size} is on {self.device}: {self.owner}."


def culprits(error: BaseException, likely: list[str], is_mismatch: bool) -> tuple[Culprit, ...]:
    """The tensors at fault in an error whose frames are alive, most suspect first.

    Arguments:
        error: it.
        likely: the causes that its text speaks for, likeliest first.
        is_mismatch: whether the text is of those that many causes have: two tensors met.
    """
    frames = calls(error)
    if not frames:
        return ()
    scene = Scene(frames, message_of(error))
    met = parties(scene)
    scene.wanted |= {id(party.tensor) for party in met}
    first = likely[0] if likely else "library_bug"
    if "in replica" in scene.text and data_parallel(scene) is not None:
        # Its frames are gone: PyTorch raises a new error from their text.
        wrong, is_mismatch, first = [], False, "data_parallel_unreplicated_state"
    elif joined := gathered(scene):
        wrong, is_mismatch, first = [joined], False, returned_on_cpu(data_parallel(scene), likely)
    else:
        wrong = [] if is_lone(first) and not is_mismatch else suspects(met, scene)
    found = []
    wrong_or_lone = wrong or lone_suspects(scene, first)
    scene.wanted |= {id(party.tensor) for party in wrong_or_lone}
    for party in wrong_or_lone[:5]:
        about = suspect(party, met, scene, tuple(likely))
        named = cause(about) if wrong and is_mismatch else first
        size = safely.shape(party.tensor) if party.tensor is not None else None
        found.append(Culprit(about.expression, party.device, size, owner(about), named, fix(about, named)))
    return tuple(dict.fromkeys(found))
