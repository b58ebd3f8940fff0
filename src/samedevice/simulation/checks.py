"""The device checks of PyTorch's CUDA build, one small function each, with the source file it follows.

Each takes the operator's entry (schema.Operator, None for an operator outside native_functions.yaml), its operands,
out= first, and its arguments by position; it returns the device of the result, raises PyTorch's error, or returns None:
then the general rules decide.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from samedevice.simulation import convolution
from samedevice.simulation.devices import CPU
from samedevice.simulation.refusals import accuse, attention_on_several_devices, found_two_devices

_register_hook = torch.Tensor.register_hook  # gradients.py puts a stricter one in its place

Check = Callable[[Any, Sequence[Any], Any], torch.device | None]


def tensor_iterator(operands: Sequence[Any], cpu_scalars: int = 1) -> torch.device:
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
            return_gradient(operand.tensor)
            continue
        found_two_devices(common, operand.device)
    return common


def return_gradient(scalar: torch.Tensor) -> None:
    """A 0-dim CPU tensor that joined GPU tensors gets its gradient on the CPU (engine.cpp, validate_outputs)."""
    if scalar.requires_grad and "_samedevice_returns" not in scalar.__dict__:
        scalar._samedevice_returns = _register_hook(scalar, lambda gradient: gradient.cpu())


def generated(operator: Any, operands: Sequence[Any], method: str = "") -> torch.device:
    """aten/src/ATen/core/adaption.cpp: the first tensor sets the device, the first that differs is accused."""
    reference: torch.device = operands[0].device
    for operand in operands:
        if operand.device != reference:
            accuse(operand.name, operand.device, reference, method or operator.wrapper(any(x.is_out for x in operands)))
    return reference


def resized_out(operands: Sequence[Any]) -> torch.device:
    """torchgen's resize_out: the result's device is the first input's, and out= must be there."""
    device: torch.device = next(x.device for x in operands if not x.is_out)
    for operand in operands:
        if operand.is_out and operand.device != device:
            raise RuntimeError(f"Expected out tensor to have device {device}, but got {operand.device} instead")
    return device


def _named(operands: Sequence[Any], name: str) -> Any:
    return next((x for x in operands if x.name == name), None)


def _index(operator: Any, operands: Sequence[Any], args: Any) -> torch.device:
    """native/TensorAdvancedIndexing.cpp, make_info."""
    device: torch.device = _named(operands, "self").device
    for operand in operands:
        if operand.name == "indices" and operand.device not in (CPU, device):
            raise RuntimeError(
                f"indices should be either on cpu or on the same device as the indexed tensor ({device})"
            )
        if operand.is_out and operand.device != device:
            found_two_devices(*((operand.device, device) if device is CPU else (device, operand.device)))
    return device


def _index_put(operator: Any, operands: Sequence[Any], args: Any) -> torch.device:
    """native/TensorAdvancedIndexing.cpp, _index_put_impl_: indices come from anywhere, the values must be here."""
    target, values = _named(operands, "self"), _named(operands, "values")
    device: torch.device = target.device
    if values.device == device or values.tensor.dim() == 0:
        return device
    if device.type == "cuda" and len(args) > 3 and args[3]:  # accumulate
        raise RuntimeError(f"expected device {device} but got device {values.device} for value tensor")
    return tensor_iterator([target, values])


def _masked_fill(operator: Any, operands: Sequence[Any], args: Any) -> torch.device:
    """native/cuda/Indexing.cu, masked_fill__cuda."""
    target, mask, value = (_named(operands, name) for name in ("self", "mask", "value"))
    if value is not None and target.device is CPU:
        raise RuntimeError("masked_fill_: Expected inputs to be on same device")
    if mask.device != target.device:
        raise RuntimeError(
            f"expected self and mask to be on the same device, but got mask on {mask.device} "
            f"and self on {target.device}"
        )
    device: torch.device = target.device
    return device


def _where(operator: Any, operands: Sequence[Any], args: Any) -> torch.device:
    """native/TensorCompare.cpp, where_self_out: 0-dim inputs are moved to the first device that is not the CPU."""
    device: torch.device = next(x.device for x in operands if x.device is not CPU)
    return tensor_iterator([x for x in operands if x.is_out or x.tensor.dim() or x.device == device])


def _at_first(operator: Any, operands: Sequence[Any], args: Any) -> torch.device:
    """Operators that take the others from anywhere: copy_ (native/Copy.cpp), bernoulli_ (cuda/Distributions.cpp),
    ctc_loss (native/LossCTC.cpp)."""
    device: torch.device = operands[0].device
    return device


def _index_fill(operator: Any, operands: Sequence[Any], args: Any) -> torch.device:
    """native/TensorAdvancedIndexing.cpp, index_fill_: the value is read as a number, from anywhere."""
    return tensor_iterator([x for x in operands if x.name != "value"], cpu_scalars=0)


def _rsub(operator: Any, operands: Sequence[Any], args: Any) -> torch.device:
    """native/BinaryOps.cpp, rsub: other - self."""
    return tensor_iterator(operands[::-1])


def _batch_norm(operator: Any, operands: Sequence[Any], args: Any) -> torch.device:
    """native/Normalization.cpp, _select_batch_norm_backend: images with weight and bias go to cuDNN's kernel."""
    inputs = operands[0]
    names = {operand.name for operand in operands}
    if inputs.device.type == "cuda" and inputs.tensor.dim() > 2 and {"weight", "bias"} <= names:
        return generated(operator, operands, "wrapper_CUDA__cudnn_batch_norm")
    return generated(operator, operands)


def _extremum(operator: Any, operands: Sequence[Any], args: Any) -> torch.device | None:
    """native/ReduceAllOps.cpp, min and max of all elements."""
    if operator.overload != "unary_out":
        return None
    raise RuntimeError(
        "Expected self.device() == out.device() to be true, but got false.  (Could this error message be improved?  "
        "If so, please report an enhancement request to PyTorch.)"
    )


def _block_diag(operator: Any, operands: Sequence[Any], args: Any) -> torch.device:
    """native/TensorShape.cpp, block_diag."""
    inputs = [x for x in operands if not x.is_out]
    first: torch.device = inputs[0].device
    for index, operand in enumerate(inputs):
        if operand.device != first:
            raise RuntimeError(
                "torch.block_diag: input tensors must all be on the same device. "
                f"Input 0 is on device {first} and input {index} is on device {operand.device}"
            )
    return first


def _attention(operator: Any, operands: Sequence[Any], args: Any) -> torch.device | None:
    """native/transformers/attention.cpp, validate_sdpa_input."""
    query, key, value = (_named(operands, name).device for name in ("query", "key", "value"))
    if query == key == value:
        return None
    attention_on_several_devices(query, key, value)


def _no_scalars(operator: Any, operands: Sequence[Any], args: Any) -> torch.device:
    """A TensorIterator that does not set allow_cpu_scalars: native/cuda/Loss.cu, native/PointwiseOps.cpp (addcdiv)."""
    return tensor_iterator(operands, cpu_scalars=0)


def _addcmul(operator: Any, operands: Sequence[Any], args: Any) -> torch.device | None:
    """native/cuda/PointwiseOpsKernel.cu: of the two factors only tensor2 may be a CPU scalar."""
    factor = _named(operands, "tensor1")
    others = [x for x in operands if x is not factor]
    if factor.device is CPU and factor.tensor.dim() == 0 and all(x.device is not CPU for x in others):
        raise RuntimeError(
            "CPU Scalar support for tensor1 argument is not supported when calling addcmul on CUDA tensors. "
            "However, CPU Scalar support for tensor2 is supported, please swap your tensor1 and tensor2 terms."
        )
    return None


def _soft_margin_loss(operator: Any, operands: Sequence[Any], args: Any) -> torch.device:
    """native/Loss.cpp, soft_margin_loss: the target is multiplied into a result where the input is."""
    inputs, target = operands[-2:]
    return tensor_iterator([inputs._replace(is_written=True), target])


def _mv(operator: Any, operands: Sequence[Any], args: Any) -> torch.device:
    """native/Blas.cpp, mv: a result is made where the vector is, and addmv_ meets the generated check."""
    matrix, vector = operands
    return generated(operator, [vector, matrix._replace(name="mat")], "wrapper_CUDA_addmv_")


def _ndtr(operator: Any, operands: Sequence[Any], args: Any) -> torch.device:
    """native/UnaryOps.cpp, special_ndtr_out."""
    found_two_devices(operands[1].device, operands[0].device)


BY_HAND: dict[str, Check] = {
    "_ctc_loss": _at_first,
    "_foreach_copy_": _at_first,
    "_index_put_impl_": _index_put,
    "_scaled_dot_product_flash_attention_for_cpu": _attention,
    "addcdiv": _no_scalars,
    "addcdiv_": _no_scalars,
    "addcmul": _addcmul,
    "addcmul_": _addcmul,
    "bernoulli": _at_first,
    "bernoulli_": _at_first,
    "binary_cross_entropy": _no_scalars,
    "block_diag": _block_diag,
    "convolution": convolution.check,
    "copy_": _at_first,
    "fill_": _at_first,
    "index": _index,
    "index_fill_": _index_fill,
    "masked_fill_": _masked_fill,
    "max": _extremum,
    "min": _extremum,
    "mv": _mv,
    "native_batch_norm": _batch_norm,
    "rsub": _rsub,
    "soft_margin_loss": _soft_margin_loss,
    "special_ndtr": _ndtr,
    "where": _where,
}
