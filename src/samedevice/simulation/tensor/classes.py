"""The classes of simulated tensors: one for torch.Tensor, one for nn.Parameter, one for each class of a user's.

Note [Twins]
On CUDA a tensor's class says nothing of its device: `type(model.weight)` is nn.Parameter anywhere. A simulated tensor
needs a class of its own, for the Python dispatch key. So each class of tensors has a twin, which derives from
SimulatedTensor and from it, bears its name, equals it, knows its instances, and makes it when called. Only
`type(x) is nn.Parameter` can tell them apart: `x.__class__ is nn.Parameter`, `==`, `in`, dictionaries, isinstance,
functools.singledispatch and printing cannot. No tensor is of the class SimulatedTensor itself: code of ours asks
`isinstance(x, SimulatedTensor)`, or `type(x) is classes.simulated` for a plain one.

A tensor of exactly torch.Tensor could not be told from one on the CPU when the simulation has ended, and torch.Tensor
is again what it was: it would compute there, and say that it is there.

So `type(x)` of a simulated tensor is a twin, which the program must not see: whoever hands a class to the program, to a
mode or to a file hands on `original_of` it, and whoever makes a tensor of a class of the program makes it of `twin_of`.

The twin of a class with a `__torch_dispatch__` of its own, such as a `T` of which `x.as_subclass(T)` makes one, calls
that first, and what it passes on by `super().__torch_dispatch__` comes to the simulation (dispatching_classes.py). Such
a class that `_make_wrapper_subclass` makes has no twin: it has no memory, and computes with the tensors that it holds.
"""

import functools
import operator
import weakref
from typing import Any, NoReturn

import torch

from samedevice.simulation.calls import Types
from samedevice.simulation.class_stand_ins import InPlace, pickle_as_original

# A twin lives as long as a tensor of it: a program that makes classes in a loop does not gather them.
_twins: "weakref.WeakValueDictionary[type, type]" = weakref.WeakValueDictionary()
_of_torch: list[type] = []  # of torch's own classes, which stay
simulated: Any = None  # the twin of torch.Tensor
_common: Any = None  # what all twins derive from, SimulatedTensor
_passed_on: Any = None  # what those twins derive from whose class dispatches operators itself

# PyTorch's own classes that dispatch operators themselves, and of which files of the simulation know more.
_WITH_WAYS_OF_THEIR_OWN = (
    "AsyncCollectiveTensor", "DTensor", "FakeTensor", "FunctionalTensor", "MaskedTensor", "NestedTensor",
)  # fmt: skip

# `tensor.__class__ = kind` of exactly this class.
assign = object.__dict__["__class__"].__set__


class Twin(InPlace, type(torch.nn.Parameter)):  # type: ignore[misc]
    """The type of a twin, which stands for its original."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls.original(*args, **kwargs)  # `type(parameter)(data, requires_grad=...)`

    # Read and called by C alone: C++ asks at each operator whose tensors are of several classes.
    __instancecheck__ = property(operator.attrgetter("knows"))

    def __subclasscheck__(cls, subclass: Any) -> bool:
        return issubclass(original_of(subclass), cls.original)

    def __setattr__(cls, name: str, value: Any) -> None:
        setattr(cls.original, name, value)  # `cls.calls += 1` in a method of the class


def original_of(kind: Any) -> Any:
    """The class that a twin stands for; any other is its own."""
    return kind.original if isinstance(kind, Twin) else kind


def twin_of(kind: type) -> type:
    """The class of the tensors on a simulated GPU that are, on the CPU, of class `kind`.

    Raises NotImplementedError for a class of PyTorch's that dispatches operators itself in a way of its own.
    """
    original = original_of(kind)
    twin = _twins.get(original)
    if twin is None:
        twin = _twins[original] = _make(original)
        if original.__module__.partition(".")[0] == "torch":
            _of_torch.append(twin)
    return twin


def as_on_cuda(types: Types) -> Types:
    """The classes that dispatch an operator themselves, as on CUDA, where a plain tensor's is not one of them."""
    return tuple(original_of(kind) for kind in types if dispatches_itself(kind))


def dispatches_itself(kind: Any) -> bool:
    """Whether a class has a __torch_dispatch__ of its own, of which PyTorch and not we have told."""
    return original_of(kind).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__


def is_jagged(kind: Any) -> bool:
    """Whether this is PyTorch's class of jagged nested tensors, which computes with the tensors that it holds."""
    return bool(kind.__module__ == "torch.nested._internal.nested_tensor" and kind.__name__ == "NestedTensor")


def holds_tensors(kind: Any) -> bool:
    """Whether this is a class that computes with the tensors that it holds, wherever these are."""
    return is_jagged(kind) or kind is torch.masked.MaskedTensor or is_of_program(kind)


def is_of_program(kind: Any) -> bool:
    """Whether this class dispatches operators itself as any program's does, PyTorch's TwoTensor included."""
    if not dispatches_itself(kind):
        return False
    package = kind.__module__.partition(".")[0]
    return package != "samedevice" and not (package == "torch" and kind.__name__ in _WITH_WAYS_OF_THEIR_OWN)


def refuse_class(kind: type) -> NoReturn:
    raise NotImplementedError(
        f"samedevice does not simulate tensors of a class with a __torch_dispatch__ of its own on a GPU: keep "
        f"{kind.__name__} on the CPU"
    )


def _make(original: type) -> type:
    bases = _common, original
    if dispatches_itself(original):
        if not is_of_program(original):
            refuse_class(original)
        bases = original, _passed_on
    members = _members(original)
    twin: Any = _type_of_twins(type(original))(original.__name__, bases, members)
    if original is not torch.nn.Parameter:
        # Set now: of a class with a __torch_dispatch__, torch disables the default one when it is made.
        holder = next(base for base in original.__mro__ if "__torch_function__" in vars(base))
        type.__setattr__(twin, "__torch_function__", vars(holder)["__torch_function__"])
    return twin


def _members(original: Any) -> dict[str, Any]:
    """What a twin has by itself. nn.Parameter looks for a mark on a tensor, too: here its class counts."""
    knows = type.__instancecheck__.__get__(original)
    return {"original": original, "knows": knows} | {
        name: getattr(original, name) for name in ("__doc__", "__module__", "__qualname__")
    }


@functools.cache
def _type_of_twins(kind: type) -> type[Twin]:
    """The type of the twins of classes whose type is `kind`."""
    found: type[Twin] = Twin if issubclass(Twin, kind) else type("Twin", (Twin, kind), {})
    pickle_as_original(found)
    return found


def set_class(tensor: torch.Tensor, kind: type) -> None:
    """`tensor.__class__ = kind`, as a program says it of a tensor on a simulated GPU."""
    assign(tensor, twin_of(kind))


def register(common: type, passed_on: type) -> None:
    """Let the twins derive from these classes, and make that of torch.Tensor."""
    global simulated, _common, _passed_on
    _common, _passed_on = common, passed_on
    simulated = _twins[torch.Tensor] = Twin("Tensor", (common,), _members(torch.Tensor))
    _of_torch.append(simulated)
