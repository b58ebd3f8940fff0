"""All that is known of a tensor in the wrong place: what it is called, what holds it, where it came from."""

import ast
import types
from dataclasses import dataclass

from samedevice.doctor.culprits.failure import Failure
from samedevice.doctor.culprits.operands import Operand
from samedevice.doctor.culprits.provenance import Provenance
from samedevice.introspect import classes, objects
from samedevice.introspect.expressions import Expression
from samedevice.introspect.frames import Call
from samedevice.introspect.libraries import is_third_party
from samedevice.introspect.origins import Origin
from samedevice.placement.holders import Holder


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of a tensor in the wrong place, while the frames of the failure are alive.

    Attributes:
        expression: the tensor as the source of `call` has it.
        call: the frame whose source that is.
        operand: what the tensor did in the failing operation.
        other_operands: the operands on other devices.
        holder: the module or the object that holds the tensor.
        origin: where its name got it.
        origin_call: the frame in which `origin` was read.
        origin_name: what the tensor is called in that frame; "" where it has no name.
        failure: the frames.
        likely_causes: the ids of the causes that the error's text suggests, the most likely first.
        taken_in: the statement above the failing one that took a part or a copy of it, which then failed.
        roots: the factories and moves that put it where it is, where the source tells them; `origin` is then the first.
    """

    expression: Expression
    call: Call
    operand: Operand
    other_operands: tuple[Operand, ...]
    holder: Holder | None
    origin: Origin
    origin_call: Call
    origin_name: str
    failure: Failure
    likely_causes: tuple[str, ...]
    taken_in: ast.stmt | None = None
    roots: tuple[Provenance, ...] = ()

    @property
    def other_devices(self) -> tuple[str, ...]:
        """The devices of the other operands, each once."""
        return tuple(dict.fromkeys(operand.device for operand in self.other_operands))

    @property
    def wanted_device(self) -> str:
        """The device where the tensor is wanted; "" where no operand tells it."""
        devices = self.other_devices
        return next((device for device in devices if device != "cpu"), devices[0] if devices else "")

    @property
    def is_registered(self) -> bool:
        """Whether it is a parameter or a buffer of a module, which `.to()` moves."""
        return self.holder is not None and self.holder.moves and objects.is_module(self.holder.module)

    @property
    def is_unregistered(self) -> bool:
        """Whether a module holds it in another way, which `.to()` does not see."""
        return self.holder is not None and not self.holder.moves and objects.is_module(self.holder.module)

    @property
    def is_of_an_object(self) -> bool:
        """Whether an object holds it that is no module: a metric, a buffer of experience, a batch of one's own."""
        holder = self.holder
        return holder is not None and holder.kind != "state" and not objects.is_module(holder.module)

    @property
    def is_between_gpus(self) -> bool:
        """Whether the tensor is on one GPU and is wanted on another."""
        return "cpu" not in (self.operand.device, *self.other_devices)


def is_of_a_library(holder: Holder) -> bool:
    """Tell whether a library other than PyTorch wrote the class of the object that holds a tensor."""
    for owner in classes.mro(type(holder.module)):
        init = classes.namespace(owner).get("__init__")
        if isinstance(init, types.FunctionType):
            return is_third_party(init.__code__.co_filename)
    return False
