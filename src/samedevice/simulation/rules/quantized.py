"""Quantized tensors on a GPU: which operators have a kernel for them on the CPU, which computes here, and none on CUDA.

PyTorch's dispatcher has a key for them, QuantizedCUDA, and native_functions.yaml says which kernels are under it. What
is not there is refused, as the dispatcher refuses it. An operator that PyTorch makes of its out= form (structured) is
refused by that one's name, after TensorIterator has compared devices.
"""

import functools
from typing import Any

import torch

from samedevice.simulation.calls import Arguments, Keywords, Overload
from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.rules import judgement, layout_kinds, native_functions, tensor_iterator

_KIND = "Quantized"
_aten = torch.ops.aten
# What PyTorch makes of another operator, where the CPU's kernels compute it at once.
_COMES_TO = {
    _aten.mean.default: _aten.mean.dim,
    _aten.sort.default: _aten.sort.stable,
    _aten.stack.default: _aten.cat.default,
}
_SCALAR_TYPES = {torch.quint8: "QUInt8", torch.qint8: "QInt8", torch.qint32: "QInt32"}


def holds(args: Arguments, kwargs: Keywords) -> bool:
    """Whether a tensor among these is quantized, and one is on a GPU."""
    tensors = list(judgement.tensors_of(args, kwargs))
    return any(x.is_quantized for x in tensors) and any(device_of(x) is not CPU for x in tensors)


def refuse(func: Overload, args: Arguments, kwargs: Keywords) -> None:
    """Refuse an operator that CUDA has no kernel of for quantized tensors."""
    func = _COMES_TO.get(func, func)
    if _lacks_kernel(func):
        _refuse(func, args, kwargs, list(judgement.tensors_of(args, kwargs)))


@functools.cache
def _lacks_kernel(func: Overload) -> bool:
    namespace, _, signature = func.name().partition("::")
    operator = native_functions.operator(signature) if namespace == "aten" else None
    if operator is None or f"{_KIND}CUDA" in operator.kernels:
        return False
    return operator.structured or f"{_KIND}CPU" in operator.kernels


def _refuse(func: Overload, args: Arguments, kwargs: Keywords, tensors: list[torch.Tensor]) -> None:
    operator: Any = native_functions.operator(func.name().partition("::")[2])
    outputs = _outputs(func) if operator.structured else None
    if outputs is None:
        layout_kinds.refuse(func, _KIND, args, kwargs)
        return
    args = tuple(
        tensors[0] if isinstance(argument.type, torch.TensorType) and not isinstance(arg, torch.Tensor) else arg
        for argument, arg in zip(func._schema.arguments, args, strict=False)
    )  # a number is a tensor there, and what it holds is not looked at
    if (operator.iterator and operator.name != "index") or operator.name == "cat":
        functools.reduce(torch.promote_types, (x.dtype for x in tensors))  # refuses quantized types among others
    if operator.iterator:
        tensor_iterator.tensor_iterator(judgement.operands_of(func, args, kwargs))
    if operator.name == "mean":  # native/ReduceOps.cpp, the meta function of mean.dim
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            f"Got: {_SCALAR_TYPES.get(tensors[0].dtype, tensors[0].dtype)}"
        )
    if operator.name == "sort":  # native/quantized/TensorFactories.cpp: its meta function asks for strides
        raise RuntimeError(
            "empty_strided not supported on quantized tensors yet see https://github.com/pytorch/pytorch/issues/74540"
        )
    overload, names = outputs
    layout_kinds.refuse(overload, _KIND, args, kwargs | dict.fromkeys(names, tensors[0]))


@functools.cache
def _outputs(func: Overload) -> tuple[Any, list[str]] | None:
    """The form of an operator that writes to given outputs, and what it calls them."""
    own = [(argument.name, str(argument.type)) for argument in func._schema.arguments]
    packet = getattr(torch.ops.aten, func._schema.name.partition("::")[2].removesuffix("_"))
    for name in packet.overloads():
        arguments = getattr(packet, name)._schema.arguments
        outputs = [argument.name for argument in arguments if argument.is_out]
        if outputs and [(x.name, str(x.type)) for x in arguments if not x.is_out] == own:
            return getattr(packet, name), outputs
    return None
