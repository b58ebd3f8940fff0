"""The rules that decide most mixed calls: TensorIterator's, the generated check's, and that of structured out=."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import torch

from samedevice.simulation.calls import Arguments, Keywords, Overload
from samedevice.simulation.device.devices import CPU
from samedevice.simulation.rules.errors import accuse, found_two_devices, not_a_gpu, out_tensor
from samedevice.simulation.rules.native_functions import Operator

NUMBERS = (bool, int, float, complex)
_register_hook = torch.Tensor.register_hook  # autograd.py puts a stricter one in its place


class Operand(NamedTuple):
    """One tensor among an operator's arguments."""

    name: str
    tensor: torch.Tensor
    device: torch.device
    is_out: bool = False
    is_written: bool = False
    is_keyword: bool = False  # an argument by keyword alone, out= aside


# A check by hand. Its operator is None where torchgen made it, which is not in the table; no check asks for more then.
Check: TypeAlias = Callable[[Any, Sequence[Operand], Arguments], torch.device | None]


def tensor_iterator(operands: Sequence[Operand], cpu_scalars: int = 1) -> torch.device:
    """aten/src/ATen/TensorIterator.cpp, compute_types: outputs first, then inputs, an in-place operand in both roles.

    The common device is the first that is not the CPU. A 0-dim CPU input may join; `cpu_scalars` of them at most.
    """
    outputs = [(x, True) for x in operands if x.is_written]
    inputs = [(x, False) for x in operands if not x.is_out]
    common = next((x.device for x, _ in outputs + inputs if x.device.type != "cpu"), CPU)
    if len(inputs) < 2:
        cpu_scalars = 0  # build_unary_op does not set allow_cpu_scalars
    for operand, is_output in outputs + inputs:
        if operand.device == common:
            continue
        if cpu_scalars and not is_output and operand.device is CPU and operand.tensor.dim() == 0:
            if sum(x.device is CPU and x.tensor.dim() == 0 for x, _ in inputs) > cpu_scalars:
                raise RuntimeError("Trying to pass too many CPU scalars to non-CPU kernel!")
            continue
        found_two_devices(common, operand.device)
    return common


def shapes_fit(operands: Sequence[Operand]) -> None:
    """TensorIterator.cpp, compute_mem_overlaps, compute_shape and mark_resize_outputs: they come before the devices."""
    for operand in operands:
        if operand.is_written and _overlaps_itself(operand.tensor):
            raise RuntimeError(
                "unsupported operation: more than one element of the written-to tensor refers to a single memory "
                "location. Please clone() the tensor before performing the operation."
            )
    shape: list[int] = []
    for operand in operands:
        if not operand.is_out:
            shape = broadcast(shape, list(operand.tensor.shape))
    for operand in operands:
        own = list(operand.tensor.shape)
        if operand.is_written and not operand.is_out and own != shape:
            raise RuntimeError(f"output with shape {own} doesn't match the broadcast shape {shape}")


def kinds_fit(operator: Overload, operands: Sequence[Operand], args: Arguments, kwargs: Keywords) -> None:
    """Raise what an operator's own meta function says of dtypes: it runs before TensorIterator looks at devices.

    That a result cannot be cast to an output is said after this output's device was looked at, and before the inputs'.
    """
    device = next((x.device for x in operands if x.device.type != "cpu"), CPU)
    outputs_fit = all(x.device == device for x in operands if x.is_written)
    small = _small((*args, *(kwargs or {}).values()))
    for place, (argument, arg) in enumerate(zip(operator._schema.arguments, args, strict=False)):
        if (
            isinstance(argument.type, torch.TensorType) and type(arg) in NUMBERS
        ):  # which Python hands to C++ in a tensor
            first = next(x for x in small if isinstance(x, torch.Tensor))
            small[place] = torch.ops.aten.scalar_tensor.default(arg, dtype=torch.result_type(first, arg))
    with torch.no_grad():
        try:
            operator(*small[: len(args)], **dict(zip(kwargs or {}, small[len(args) :], strict=True)))
        except NotImplementedError:  # of a kernel, which CUDA does not come to
            pass
        except RuntimeError as error:
            if "can't be cast" not in str(error) or outputs_fit:
                raise RuntimeError(str(error)) from None


def _small(args: Arguments) -> list[Any]:
    """The arguments with one element in each tensor, on the CPU: dtypes meet as those of the whole do."""
    ones = torch.ops.aten.ones.default
    return [ones([1] * x.dim(), dtype=x.dtype) if isinstance(x, torch.Tensor) else x for x in args]


def _overlaps_itself(tensor: torch.Tensor) -> bool:
    """aten/src/ATen/MemoryOverlap.cpp, has_internal_overlap."""
    pairs = zip(tensor.shape, tensor.stride(), strict=True)
    return tensor.numel() > 0 and any(size > 1 and stride == 0 for size, stride in pairs)


def broadcast(first: list[int], second: list[int]) -> list[int]:
    """aten/src/ATen/ExpandUtils.cpp, infer_size."""
    rank = max(len(first), len(second))
    padded = [[1] * (rank - len(shape)) + shape for shape in (first, second)]
    for place in reversed(range(rank)):
        a, b = padded[0][place], padded[1][place]
        if 1 not in (a, b) and a != b:
            raise RuntimeError(
                f"The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension {place}"
            )
    return [b if a == 1 else a for a, b in zip(*padded, strict=True)]


def return_gradient(scalar: torch.Tensor, device: torch.device) -> None:
    """A 0-dim tensor that joined others elsewhere gets its gradient where it is (engine.cpp, validate_outputs)."""
    if scalar.requires_grad and "_samedevice_returns" not in scalar.__dict__:
        scalar._samedevice_returns = _register_hook(scalar, lambda gradient: gradient.to(device))


def refuse_gradient(tensor: torch.Tensor, device: torch.device, given: torch.device, function: str, index: int) -> None:
    """Refuse the gradient of `tensor`, which a derivative makes on another device; a single number is moved.

    engine.cpp, validate_outputs.
    """
    if not tensor.requires_grad or "_samedevice_returns" in tensor.__dict__:
        return
    if tensor.dim() == 0:
        return return_gradient(tensor, device)

    def refuse(gradient: torch.Tensor) -> None:
        raise RuntimeError(f"{function}invalid gradient at index {index} - expected device {device} but got {given}")

    tensor._samedevice_returns = _register_hook(tensor, refuse)


def generated(operator: Operator, operands: Sequence[Operand], method: str = "") -> torch.device:
    """aten/src/ATen/core/adaption.cpp: the first tensor sets the device, the first that differs is accused.

    Arguments by keyword alone are not looked at (torchgen/dest/register_dispatch_key.py: flat_positional).
    """
    reference: torch.device = operands[0].device
    for operand in operands:
        if operand.device != reference and not operand.is_keyword:
            accuse(operand.name, operand.device, reference, method or operator.wrapper(any(x.is_out for x in operands)))
    return reference


def resized_out(operands: Sequence[Operand]) -> torch.device:
    """torchgen's resize_out: the result's device is the first input's, and out= must be there."""
    device: torch.device = next(x.device for x in operands if not x.is_out)
    for operand in operands:
        if operand.is_out:
            out_tensor(device, operand.device)
    return device


def structured_out(operands: Sequence[Operand]) -> torch.device:
    """torchgen/dest/register_dispatch_key.py, set_output: the result's device is guarded before out= is compared."""
    if next(x.device for x in operands if not x.is_out) is CPU:
        not_a_gpu(CPU)
    return resized_out(operands)


def named(operands: Sequence[Operand], name: str) -> Any:
    return next((x for x in operands if x.name == name), None)
