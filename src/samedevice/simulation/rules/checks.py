"""The device checks of PyTorch's CUDA build, one small function each, with the source file it follows.

Each takes the operator's entry (native_functions.Operator, None for an operator outside native_functions.yaml), its
operands, out= first, and its arguments by position. It returns the device of the result, raises PyTorch's error, or
returns None: then the general rules decide.
"""

from collections.abc import Sequence
from typing import Any

import torch

from samedevice.simulation.calls import Arguments
from samedevice.simulation.device.devices import CPU, not_equal
from samedevice.simulation.rules import convolution, indexing, linear_algebra
from samedevice.simulation.rules.dtypes import expected_scalar_type, name_of
from samedevice.simulation.rules.errors import (
    accuse,
    attention_on_several_devices,
    expected_device,
    found_two_devices,
)
from samedevice.simulation.rules.native_functions import Operator
from samedevice.simulation.rules.tensor_iterator import (
    Check,
    Operand,
    generated,
    named,
    refuse_gradient,
    resized_out,
    shapes_fit,
    tensor_iterator,
)

_MAY_BE_PARTS = (torch.float16, torch.float32, torch.float64)  # of complex numbers


def _fused_step(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device | None:
    """native/cuda/Fused*Kernel.cu, where the learning rate is a tensor.

    One on the CPU is read as a number, and of the rest only the lists are compared then.
    """
    home: torch.device = operands[0].device
    if operator.overload != "tensor_lr" or home is CPU:
        return None
    single = {name: named(operands, name) for name in ("grad_scale", "found_inf", "lr")}
    for name, operand in single.items() if single["lr"].device is not CPU else ():
        if operand is not None and operand.device != home:
            raise RuntimeError(f"{name} must be on the same GPU device as the params")
    if all(x.device == home for x in operands if x.name not in (*single, "state_steps")):
        return home
    raise RuntimeError(_lists_differ(operator.name, operands, single["lr"].device is CPU))


def _lists_differ(name: str, operands: Sequence[Operand], is_number: bool) -> str:
    """What an optimizer says of lists that native/ForeachUtils.h, check_fast_path_restrictions, refuses."""
    if name == "_fused_sgd_":
        momentum = named(operands, "momentum_buffer_list")
        lists = "{params, grads}" if momentum is None else " {params, grads, momentum_buffer_list}"
        return (
            f"Expected at::native::check_fast_path_restrictions({lists}) to be true, but got false.  (Could this "
            "error message be improved?  If so, please report an enhancement request to PyTorch.)"
        )
    if name == "_fused_adagrad_":
        lists = "params, grads, and state_sums" if is_number else "params and grads"
    else:
        lists = "params, grads, exp_avgs, and exp_avg_sqs"
        if named(operands, "max_exp_avg_sqs"):
            lists = "params, grads, exp_avgs, exp_avg_sqs, and max_exp_avg_sqs"
    return f"{lists} must have same dtype, device, and layout"


def _where(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """native/TensorCompare.cpp, where_self_out: 0-dim inputs are moved to the first device that is not the CPU."""
    condition = named(operands, "condition").tensor
    if condition.dtype not in (torch.bool, torch.uint8):
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {name_of(condition)}"
        )
    shapes_fit(operands)
    device: torch.device = next((x.device for x in operands if x.device is not CPU and not x.is_out), CPU)
    inputs = [x if x.tensor.dim() or device is CPU else x._replace(device=device) for x in operands if not x.is_out]
    return tensor_iterator([*(x for x in operands if x.is_out), *inputs], cpu_scalars=0)


def _at_first(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """Operators that take the others from anywhere: copy_ (native/Copy.cpp), bernoulli_ (cuda/Distributions.cpp),
    ctc_loss (native/LossCTC.cpp), nested tensors, whose sizes are on the CPU (native/nested/NestedTensorUtils.h)."""
    device: torch.device = operands[0].device
    return device


def _copied(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """native/Copy.cpp: from anywhere, but what is to be quantized (native/quantized/AffineQuantizer.cpp)."""
    target, source = operands[:2]
    if target.tensor.is_quantized and not source.tensor.is_quantized:
        by = "channel" if "channel" in str(target.tensor.qscheme()) else "tensor"
        raise RuntimeError(
            f"quantize_tensor_per_{by}_affine expects a quantized and float tensors to be on the same device."
        )
    return _at_first(operator, operands, args)


def _conv_tbc(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """native/ConvolutionTBC.cpp: the bias is copied into the result, from anywhere."""
    inputs, weight = named(operands, "self"), named(operands, "weight")
    if weight.device != inputs.device:
        accuse("mat2", weight.device, inputs.device, "wrapper_CUDA_addmm_")
    device: torch.device = inputs.device
    return device


def _foreach_by_a_number(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device | None:
    """native/ForeachOpsKernels.cpp and native/cuda/ForeachBinaryOpScalarTensor.cu, of lists and one number."""
    if operator.overload != "Tensor":
        return None
    first: torch.device = operands[0].device
    number = operands[-1]
    if any(x.device != first for x in operands[:-1]) or operands[0].tensor.dtype is not number.tensor.dtype:
        return None  # pair by pair
    if number.tensor.dim():
        raise RuntimeError(
            f"scalar tensor expected to be 0 dim but it has {number.tensor.dim()} dimensions and "
            f"{number.tensor.numel()} elements."
        )
    if number.device != first and (first is CPU or number.device is not CPU or "add" in operator.name):
        verb = "is expected" if operator.name.endswith("_") else "expected"
        raise RuntimeError(f"scalar tensor {verb} to be on {first} but is on {number.device}")
    return first


def _ldexp(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device | None:
    """native/BinaryOps.cpp, ldexp: for whole exponents, a TensorIterator that takes no number of the CPU."""
    base, exponent = (operand.tensor.dtype for operand in operands[-2:])
    if not base.is_floating_point or exponent.is_floating_point or exponent.is_complex:
        return None
    return tensor_iterator(operands, cpu_scalars=0)


def _floor_divide(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """native/BinaryOps.cpp, floor_divide: a TensorIterator that the table of operators does not tell of."""
    shapes_fit(operands)
    return tensor_iterator(operands)


def _rsub(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """native/BinaryOps.cpp, rsub: other - self."""
    shapes_fit(operands[::-1])
    return tensor_iterator(operands[::-1])


def _extremum(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device | None:
    """native/ReduceAllOps.cpp, min and max of all elements."""
    if operator.overload != "unary_out":
        return None
    not_equal("self.device() == out.device()")


def _block_diag(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
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


def _attention(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device | None:
    """native/transformers/attention.cpp, validate_sdpa_input."""
    query, key, value = (named(operands, name).device for name in ("query", "key", "value"))
    if query == key == value:
        return None
    attention_on_several_devices(query, key, value)


def _no_scalars(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """A TensorIterator that does not set allow_cpu_scalars: native/cuda/Loss.cu, native/PointwiseOps.cpp (addcdiv)."""
    shapes_fit(operands)
    return tensor_iterator(operands, cpu_scalars=0)


def _addcdiv(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """native/PointwiseOps.cpp, addcdiv: dtypes first."""
    if not any(x.tensor.is_floating_point() or x.tensor.is_complex() for x in operands[-2:]):
        divide: Any = torch.ops.aten.addcdiv.default
        divide(*(torch.ops.aten.ones.default([], dtype=x.tensor.dtype) for x in operands[-3:]))  # it says why not
    return _no_scalars(operator, operands, args)


def _binary_cross_entropy(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """native/cuda/Loss.cu: a TensorIterator of one dtype, which it looks at before the devices.

    The result is multiplied by the weight in place then, so a weight may be a number on the CPU.
    """
    inputs, weight = named(operands, "self"), named(operands, "weight")
    compared = [operand for operand in operands if operand is not weight]
    for operand in compared:
        if operand.tensor.dtype is not inputs.tensor.dtype:
            raise RuntimeError(f"Found dtype {name_of(operand.tensor)} but expected {name_of(inputs.tensor)}")
    device = _no_scalars(operator, compared, args)
    if weight is not None:
        multiplied = [inputs._replace(device=device, is_written=True), weight]
        shapes_fit(multiplied)
        tensor_iterator(multiplied)
    return device


def _addcmul(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """native/cuda/PointwiseOpsKernel.cu: of the three inputs only tensor2 may be a CPU scalar."""
    shapes_fit(operands)
    device = tensor_iterator(operands)
    for name in ("self", "tensor1") if device is not CPU else ():
        operand = named(operands, name)
        if operand.device is CPU:
            tail = " However, CPU Scalar support for tensor2 is supported, please swap your tensor1 and tensor2 terms."
            raise RuntimeError(
                f"CPU Scalar support for {name} argument is not supported when calling addcmul on CUDA tensors."
                + (tail if name == "tensor1" else "")
            )
    return device


def _complex(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """native/TensorFactories.cpp, complex and polar: a result made where the first is meets the generated check.

    Before it is made, complex_check_floating looks at the dtypes.
    """
    inputs = operands[-2:]
    if not operands[0].is_out and any(x.tensor.dtype not in _MAY_BE_PARTS for x in inputs):
        names = " and ".join(name_of(x.tensor) for x in inputs)
        raise RuntimeError(f"Expected both inputs to be Half, Float or Double tensors but got {names}")
    return generated(operator, operands, f"wrapper_CUDA_out_{operator.name}_out")


def _sparse(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """The generated check of an operator whose kernel is for sparse tensors."""
    return generated(operator, operands, f"wrapper_SparseCUDA_{operator.overload}_{operator.name}")


def _joined(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """native/nested/NestedTensorFactories.cpp, _nested_tensor_from_tensor_list: torch.cat of the tensors' memory."""
    return generated(operator, [x._replace(name="tensors") for x in operands], "wrapper_CUDA_cat")


def _from_padded(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """native/nested/NestedTensorMath.cpp, nested_from_padded_generic: sizes of the CPU are joined with these."""
    padded, sizes = operands
    if sizes.device is not CPU:
        accuse("tensors", CPU, sizes.device, "wrapper_CUDA_cat")
    device: torch.device = padded.device
    return device


def _logical(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """native/BinaryOps.cpp, comparison_op: the result is made where the first is."""
    shapes_fit(operands)
    result = operands[0] if operands[0].is_out else operands[0]._replace(is_out=True, is_written=True)
    return tensor_iterator([result, *(x for x in operands if not x.is_out)])


def _soft_margin_loss(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """native/Loss.cpp, soft_margin_loss: the target is multiplied into a result where the input is."""
    inputs, target = operands[-2:]
    written = [inputs._replace(is_written=True), target]
    shapes_fit(written)
    return tensor_iterator(written)


def _softmax(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device | None:
    """native/SoftMax.cpp, softmax_out and log_softmax_out: the kernel's generated check, for a converted input too."""
    return generated(operator, operands, f"wrapper_CUDA__{operator.name}_out_out") if operands[0].is_out else None


def _mse_loss(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """native/Loss.cpp, mse_loss_out: after TensorIterator, which would let a scalar of the CPU pass."""
    device = tensor_iterator(operands)
    inputs, target = operands[-2:]
    if inputs.device != target.device:
        found_two_devices(inputs.device, target.device)
    return device


def _scattered(operator: Operator, operands: Sequence[Operand], args: Arguments) -> None:
    """autograd/derivatives.yaml, slice_scatter and its like: the gradient of src is where the other's is.

    src is copied, from anywhere, and the gradient that is of another device is refused.
    """
    inputs, src = named(operands, "self"), named(operands, "src")
    if src.device != inputs.device and not operands[0].is_out:
        node = "".join(part.capitalize() for part in operator.name.split("_"))
        refuse_gradient(src.tensor, src.device, inputs.device, f"Function {node}Backward0 returned an ", 1)


def _unbind_copy(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device | None:
    """native/TensorShape.cpp, unbind_copy_int_out: after the number of results, each is compared."""
    inputs = named(operands, "self").tensor
    dim = args[1] if len(args) > 1 else 0
    if not operands[0].is_out or len(operands) - 1 != inputs.size(dim):
        return None
    return resized_out(operands)


def _mode(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """native/TensorCompare.cpp, mode_out."""
    device: torch.device = named(operands, "self").device
    for operand in operands:
        if operand.device != device:
            raise RuntimeError(f"expected device '{device}' but got '{operand.device}' for {operand.name} output")
    return device


def _cumulative(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """native/ReduceOps.cpp, cummax_out, cummin_out and logcumsumexp_out."""
    inputs = named(operands, "self")
    device: torch.device = inputs.device
    for operand in operands:
        if operand.name != "indices":
            expected_scalar_type(inputs.tensor, operand.tensor)
        expected_device(device, operand.device)
    return device


BY_HAND: dict[str, Check] = {
    "_ctc_loss": _at_first,
    "_foreach_add": _foreach_by_a_number,
    "_foreach_add_": _foreach_by_a_number,
    "_foreach_copy_": _at_first,
    "_foreach_div": _foreach_by_a_number,
    "_foreach_div_": _foreach_by_a_number,
    "_foreach_mul": _foreach_by_a_number,
    "_foreach_mul_": _foreach_by_a_number,
    "_fused_adagrad_": _fused_step,
    "_fused_adam_": _fused_step,
    "_fused_adamw_": _fused_step,
    "_fused_sgd_": _fused_step,
    "_nested_from_padded": _from_padded,
    "_nested_tensor_from_tensor_list": _joined,
    "_nested_view_from_buffer": _at_first,
    "_scaled_dot_product_flash_attention_for_cpu": _attention,
    "_sparse_coo_tensor_with_dims_and_tensors": _sparse,
    "as_strided_scatter": _scattered,
    "addcdiv": _addcdiv,
    "addcdiv_": _addcdiv,
    "addcmul": _addcmul,
    "addcmul_": _addcmul,
    "bernoulli": _at_first,
    "bernoulli_": _at_first,
    "binary_cross_entropy": _binary_cross_entropy,
    "block_diag": _block_diag,
    "complex": _complex,
    "conv_tbc": _conv_tbc,
    "convolution": convolution.check,
    "cummax": _cumulative,
    "cummin": _cumulative,
    "copy_": _copied,
    "diagonal_scatter": _scattered,
    "fill_": _at_first,
    "floor_divide": _floor_divide,
    "floor_divide_": _floor_divide,
    "is_set_to": _at_first,
    "ldexp": _ldexp,
    "ldexp_": _ldexp,
    "log_softmax": _softmax,
    "logcumsumexp": _cumulative,
    "logical_and": _logical,
    "logical_or": _logical,
    "logical_xor": _logical,
    "max": _extremum,
    "min": _extremum,
    "mode": _mode,
    "mse_loss": _mse_loss,
    "polar": _complex,
    "rsub": _rsub,
    "select_scatter": _scattered,
    "slice_scatter": _scattered,
    "soft_margin_loss": _soft_margin_loss,
    "softmax": _softmax,
    "unbind_copy": _unbind_copy,
    "where": _where,
    **indexing.BY_HAND,
    **linear_algebra.BY_HAND,
}
