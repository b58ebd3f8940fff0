"""torch.cuda.FloatTensor and its kin: the types by which code older than `device=` makes and tells tensors.

torch.set_default_tensor_type with one of them is the default of every thread, and below torch.set_default_device.
"""

import functools
import warnings
from collections.abc import Iterator
from types import BuiltinFunctionType
from typing import Any, NoReturn

import torch
from torch.types import Device

from samedevice.simulation import state
from samedevice.simulation.calls import Arguments
from samedevice.simulation.class_stand_ins import Face, face
from samedevice.simulation.device.devices import CPU, device_of, resolve
from samedevice.simulation.patches import storage
from samedevice.simulation.rules import layout_kinds
from samedevice.simulation.stand_ins import StandIn, overridden
from samedevice.simulation.tensor import making, subclasses
from samedevice.simulation.tensor.classes import is_of_program
from samedevice.simulation.tensor.like import like
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor
from samedevice.simulation.tensor.wrapping import wrap

# Each name with what C++ calls its dtype.
_TYPES = {
    "Bool": "bool", "Byte": "unsigned char", "Char": "signed char", "Short": "short int", "Int": "int",
    "Long": "long int", "Half": "c10::Half", "BFloat16": "c10::BFloat16", "Float": "float", "Double": "double",
}  # fmt: skip

# For each type of GPU tensors, the type of CPU tensors of the same dtype.
_of_cpu = {
    getattr(of_cuda, f"{name}Tensor"): getattr(of_cpu, f"{name}Tensor")
    for name in _TYPES
    for of_cuda, of_cpu in ((torch.cuda, torch), (torch.cuda.sparse, torch.sparse))
    if hasattr(of_cuda, f"{name}Tensor")
}

_set_default_tensor_type = torch.set_default_tensor_type
_new_of_torch = torch.Tensor.__new__
_warned = False


def replacements() -> Iterator[tuple[object, str, object]]:
    for name in _TYPES:
        for owner, kind in ((torch, _PlainType), (torch.cuda, _LegacyType), (torch.cuda.sparse, _SparseType)):
            if original := getattr(owner, f"{name}Tensor", None):  # PyTorch has no sparse type for booleans
                yield owner, f"{name}Tensor", face(kind, original)
    yield torch, "set_default_tensor_type", set_default_tensor_type
    yield torch.Tensor, "new", new
    yield torch.Tensor, "__new__", staticmethod(functools.update_wrapper(_Constructor(new_tensor), _new_of_torch))


# torch/csrc/tensor/python_tensor.cpp, Tensor_new
_NO_LONGER = (
    "The torch.cuda.*DtypeTensor constructors are no longer recommended. It's best to use methods such as "
    "torch.tensor(data, dtype=*, device='cuda') to create tensors."
)


class _LegacyType(Face):
    """The type of such a type: makes a tensor on the current GPU, and knows those of its dtype on any."""

    def __call__(self, *args: Any, device: Device = None) -> torch.Tensor:
        global _warned
        if not _warned:
            _warned = True
            warnings.warn(_NO_LONGER, UserWarning, stacklevel=2)
        home = resolve("cuda" if device is None else device)
        check_device("cuda", home)
        if not args or not isinstance(args[0], torch.Tensor):
            made = _of_cpu[self.original](*args)
            _check_storage(home, args)
            return wrap(making.moved_data(made, args), home)
        if isinstance(args[0], self):
            return args[0].view_as(args[0])
        _refuse(self, "cuda", args[0])

    def __instancecheck__(self, instance: Any) -> bool:
        if not _is_on_gpu(instance):
            return False
        return bool(instance.dtype == self.dtype and instance.layout == self.layout)


class _SparseType(_LegacyType):
    """The type of torch.cuda.sparse.FloatTensor and its kin: made of tensors, it is where they are, as they are."""

    def __call__(self, *args: Any, device: Device = None) -> torch.Tensor:
        check_device("cuda", torch.device("cuda" if device is None else device))
        made = _of_cpu[self.original](*args)
        return made if args and isinstance(args[0], torch.Tensor) else made.to(resolve("cuda"))


class _PlainType(Face):
    """The type of torch.FloatTensor and its kin, to which a tensor on a GPU does not belong."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], SimulatedTensor):
            _refuse(self.original, "cpu", args[0])
        made = self.original(*args, **kwargs)
        _check_storage(CPU, args)
        return made

    def __instancecheck__(self, instance: Any) -> bool:
        return not _is_on_gpu(instance) and isinstance(instance, self.original)


def _is_on_gpu(instance: Any) -> bool:
    if isinstance(instance, SimulatedTensor):
        return True
    return isinstance(instance, torch.Tensor) and is_of_program(type(instance)) and device_of(instance).type == "cuda"


@functools.wraps(torch.Tensor.new)
def new(self: torch.Tensor, *args: Any, device: Device = None, **kwargs: Any) -> torch.Tensor:
    """Tensor.new, where the type of the tensor's device is fixed, and a tensor given is returned."""
    if overridden(self):
        return _new(self, *args, **kwargs if device is None else kwargs | {"device": device})
    here = device_of(self)
    if device is not None:
        check_device(here.type, resolve(device))
    if self.layout is torch.sparse_coo and len(args) > 1 and isinstance(args[0], torch.Tensor):
        made: torch.Tensor = torch.sparse_coo_tensor(*args)  # where its parts are, whatever `self` is
        return made
    if self.layout is torch.strided and args and isinstance(args[0], torch.Tensor):
        if device_of(args[0]).type != here.type or args[0].dtype != self.dtype:
            _refuse(self, here.type, args[0])
        return args[0].view_as(args[0])
    made = _new(self, *args, device=device, **kwargs)
    _check_storage(here, args)
    return made


_new = like(torch.Tensor.new)


def _check_storage(home: torch.device, args: Arguments) -> None:
    """torch/csrc/utils/tensor_new.cpp, new_with_storage: after its dtype, a storage's place is looked at."""
    if args and torch.is_storage(args[0]):
        storage.check_place(home, args[0])


def check_device(expected: str, passed: torch.device) -> None:
    """torch/csrc/utils/tensor_new.cpp, check_legacy_ctor_device: the type alone is looked at."""
    if passed.type != expected:
        raise RuntimeError(
            f"legacy constructor expects device type: {expected} but device type: {passed.type} was passed"
        )


def _refuse(kind: Any, device: str, given: Any) -> NoReturn:
    # torch/csrc/utils/tensor_new.cpp, check_legacy_ctor_device and legacy_tensor_generic_ctor_new
    raise TypeError(
        f"expected {_options(kind.dtype, device)} (got {_options(given.dtype, device_of(given), given.layout)})"
    )


def _options(dtype: torch.dtype, device: Device, layout: torch.layout = torch.strided) -> str:
    named = ((getattr(torch, f"{kind}Tensor").dtype, text) for kind, text in _TYPES.items())
    name = next((text for own, text in named if own == dtype), str(dtype))
    return (
        f"TensorOptions(dtype={name}, device={device}, layout={layout_kinds.name_of(layout)}, "
        "requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))"
    )


def set_default_tensor_type(t: Any) -> None:
    """torch.set_default_tensor_type, for the types of a GPU too (torch/csrc/tensor/python_tensor.cpp)."""
    name = t if isinstance(t, str) else f"{t.__module__}.{t.__name__}"
    stand_in = getattr(torch, name.rpartition(".")[2], None)
    _set_default_tensor_type(stand_in.original if isinstance(stand_in, _PlainType) else t)
    state.now.default_type = torch.device("cuda") if name.startswith("torch.cuda.") else None


class _Constructor(StandIn):
    """Tensor.__new__, which says that it is written in C, as PyTorch's is: who reads signatures then passes it by."""

    __class__ = property(lambda self: BuiltinFunctionType)

    def __reduce__(self) -> Any:
        return self.__wrapped__.__reduce__()


def new_tensor(cls: type, *args: Any, device: Device = None, **kwargs: Any) -> torch.Tensor:
    """Tensor.__new__, which makes a tensor that is given one of this class, and others where the default type says.

    torch/csrc/utils/tensor_new.cpp, base_tensor_ctor: a tensor given stays where it is, and shares its memory.
    """
    given = bool(args) and isinstance(args[0], torch.Tensor)
    if len(args) == 1 and given and device is None and not kwargs and isinstance(args[0], SimulatedTensor):
        return subclasses.as_subclass(args[0], cls)
    if len(args) == 1 and isinstance(args[0], torch.UntypedStorage) and args[0].is_cuda:
        torch._C.TensorBase.__new__(cls).set_(args[0])  # refused, since it begins on the CPU
    made: torch.Tensor
    if cls is not torch.Tensor or given or state.now.default_type is None:
        made = torch._C.TensorBase.__new__(cls, *args, **kwargs, **({} if device is None else {"device": device}))
        return made
    home = resolve("cuda" if device is None else device)
    check_device("cuda", home)
    return wrap(making.moved_data(torch._C.TensorBase.__new__(cls, *args, **kwargs), args), home)
