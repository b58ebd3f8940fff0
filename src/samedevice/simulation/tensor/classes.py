"""The classes of simulated tensors: one for torch.Tensor, one for nn.Parameter, one for each class of a user's.

On CUDA a tensor's class says nothing of its device: `type(model.weight)` is nn.Parameter anywhere. A simulated tensor
needs a class of its own, for the Python dispatch key. So each class of tensors has a twin, which derives from
SimulatedTensor and from it, bears its name, equals it, and makes it when called. Only `type(x) is nn.Parameter` can
tell them apart: `==`, `in`, dictionaries, isinstance and printing cannot.
"""

import functools
import weakref
from typing import Any, NoReturn

import torch

from samedevice.simulation.class_stand_ins import InPlace, pickle_as_original

# A twin lives as long as a tensor of it: a program that makes classes in a loop does not gather them.
_twins: "weakref.WeakValueDictionary[type, type]" = weakref.WeakValueDictionary()
_of_torch: list[type] = []  # of torch's own classes, which stay
simulated: Any = None  # the twin of torch.Tensor, SimulatedTensor


class Twin(InPlace, type(torch.nn.Parameter)):  # type: ignore[misc]
    """The type of a twin, which stands for its original."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls.original(*args, **kwargs)  # `type(parameter)(data, requires_grad=...)`

    __instancecheck__ = type.__instancecheck__  # nn.Parameter's looks for a mark on the tensor first


def original_of(kind: Any) -> Any:
    """The class that a twin stands for; any other is its own."""
    return kind.original if isinstance(kind, Twin) else kind


def twin_of(kind: type) -> type:
    """The class of the tensors on a simulated GPU that are, on the CPU, of class `kind`.

    Raises NotImplementedError for a class that dispatches operators itself.
    """
    original = original_of(kind)
    twin = _twins.get(original)
    if twin is None:
        twin = _twins[original] = _make(original)
        if original.__module__.partition(".")[0] == "torch":
            _of_torch.append(twin)
    return twin


def twins() -> list[type]:
    """All twins that were made."""
    return list(_twins.values())


def dispatches_itself(kind: Any) -> bool:
    """Whether a class, not one of ours, has a __torch_dispatch__ of its own."""
    return not isinstance(kind, Twin) and kind.__torch_dispatch__ is not torch.Tensor.__torch_dispatch__


def is_jagged(kind: Any) -> bool:
    """Whether this is PyTorch's class of jagged nested tensors, which computes with the tensors that it holds."""
    return bool(kind.__module__ == "torch.nested._internal.nested_tensor" and kind.__name__ == "NestedTensor")


def holds_tensors(kind: Any) -> bool:
    """Whether this is one of PyTorch's classes that compute with the tensors that they hold, wherever these are."""
    return is_jagged(kind) or kind is torch.masked.MaskedTensor


def refuse_class(kind: type) -> NoReturn:
    raise NotImplementedError(
        f"samedevice does not simulate tensors of a class with a __torch_dispatch__ of its own on a GPU: keep "
        f"{kind.__name__} on the CPU"
    )


def _make(original: type) -> type:
    if dispatches_itself(original):
        refuse_class(original)
    members = {"original": original, "__doc__": original.__doc__}
    members |= {name: getattr(original, name) for name in ("__module__", "__qualname__")}
    twin: Any = _type_of_twins(type(original))(original.__name__, (_twins[torch.Tensor], original), members)
    if original is not torch.nn.Parameter:
        # Set now: of a class with a __torch_dispatch__, torch disables the default one when it is made.
        holder = next(base for base in original.__mro__ if "__torch_function__" in vars(base))
        twin.__torch_function__ = vars(holder)["__torch_function__"]
    return twin


@functools.cache
def _type_of_twins(kind: type) -> type[Twin]:
    """The type of the twins of classes whose type is `kind`."""
    found: type[Twin] = Twin if issubclass(Twin, kind) else type("Twin", (Twin, kind), {})
    pickle_as_original(found)
    return found


def register(twin: type) -> None:
    """Make this class the twin of torch.Tensor."""
    global simulated
    simulated = _twins[torch.Tensor] = twin
    twin.__doc__ = torch.Tensor.__doc__
    _of_torch.append(twin)
