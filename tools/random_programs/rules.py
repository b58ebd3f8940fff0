"""The rules of CUDA on which tensors may meet: a model that shares nothing with the simulation, because it judges it.

They were written from PyTorch's source, version 2.13, file by file as named below; `python -m random_programs` compares
them with PyTorch's CUDA build. Devices are strings here. A rule returns where the result is, or raises Refused.
"""

from collections.abc import Sequence
from typing import Any, NoReturn

import torch

from random_programs.classes import Passing, TwoTensor

CPU = "cpu"


class Refused(Exception):  # noqa: N818 - not an error of ours
    """A refusal of a call by PyTorch's CUDA build, with this type and text."""

    def __init__(self, text: str, kind: type[Exception] = RuntimeError) -> None:
        super().__init__(text)
        self.text, self.kind = text, kind


def two_devices(first: str, second: str) -> NoReturn:
    raise Refused(
        f"Expected all tensors to be on the same device, but found at least two devices, {first} and {second}!"
    )


def overlapping(target: Any) -> None:
    """MemoryOverlap.cpp: one of the first things that TensorIterator looks at, shapes and devices come later."""
    if target.twin.numel() and any(
        stride == 0 and size > 1 for stride, size in zip(target.stride, target.shape, strict=True)
    ):
        raise Refused(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )


def common_dtype(name: str, *inputs: Any) -> torch.dtype:
    """TensorIterator.cpp, compute_common_dtype; a division of whole numbers is one of floats (BinaryOps.cpp)."""
    dtype = torch.result_type(inputs[0].twin, inputs[1].twin if len(inputs) > 1 else 2)
    return dtype if dtype.is_floating_point or not name.startswith("div") else torch.get_default_dtype()


def iterator(
    outputs: Sequence[Any], inputs: Sequence[Any], scalars: bool = True, dtype: torch.dtype | None = None
) -> str:
    """TensorIterator.cpp, compute_mem_overlaps and compute_types. None among the inputs is a Python number.

    The operands are looked at one by one. A result of `dtype` that cannot be cast to an output is refused right after
    the output's device, before other devices: the CPU has the text.
    """
    for output in outputs:
        overlapping(output)
    operands = [(x.device, False) for x in outputs]
    operands += [(CPU, True) if x is None else (x.device, x.device == CPU and not x.shape) for x in inputs]
    common = next((device for device, _ in operands if device != CPU), CPU)
    passed = False
    for place, (device, is_scalar) in enumerate(operands):
        if is_scalar and common != CPU and scalars:
            if passed:
                raise Refused("Trying to pass too many CPU scalars to non-CPU kernel!")
            passed = True
        elif device != common:
            two_devices(common, device)
        if dtype and place < len(outputs) and not torch.can_cast(dtype, outputs[place].twin.dtype):
            return common
    return common


def same(method: str, **arguments: Any) -> str:
    """core/adaption.cpp: the check around CUDA kernels; arguments in the order of the schema, lists opened."""
    opened = [(name, x) for name, value in arguments.items() for x in (value if isinstance(value, list) else [value])]
    first: str = opened[0][1].device
    for name, operand in opened:
        if operand.device != first:
            raise Refused(
                f"Expected all tensors to be on the same device, but got {name} is on {operand.device}, different from "
                f"other tensors on {first} (when checking argument in method wrapper_CUDA_{method})"
            )
    return first


def where(condition: Any, first: Any, second: Any) -> str:
    """TensorCompare.cpp, where: single numbers come along, from any device, if another is not on the CPU."""
    operands = (condition, first, second)
    home = next((x.device for x in operands if x.device != CPU), CPU)
    return iterator([], [x if x.shape or home == CPU else x.at(home) for x in operands], scalars=False)


def out_of_reduction(source: Any, out: Any) -> str:
    """torchgen, register_dispatch_key.py: before resize_out compares, CUDA's guard is set to the result's device."""
    if source.device == CPU and out.device != CPU:
        raise Refused("CUDAGuardImpl initialized with non-CUDA DeviceType: cpu")
    if out.device != source.device:
        raise Refused(f"Expected out tensor to have device {source.device}, but got {out.device} instead")
    return str(source.device)


def read_by_index(source: Any, index: str) -> str:
    """TensorAdvancedIndexing.cpp, make_info."""
    if index not in (CPU, source.device):
        raise Refused(f"indices should be either on cpu or on the same device as the indexed tensor ({source.device})")
    return str(source.device)


def write_by_index(target: Any, value: Any, accumulate: bool) -> str:
    """TensorAdvancedIndexing.cpp, _index_put_impl_: indices come from anywhere, and so does a single number."""
    if value.shape and value.device != target.device:
        if accumulate and target.device != CPU:
            raise Refused(f"expected device {target.device} but got device {value.device} for value tensor")
        two_devices(*((value.device, CPU) if target.device == CPU else (target.device, value.device)))
    return str(target.device)


def masked_fill(target: Any, mask: Any, value: Any = None) -> str:
    """cuda/Indexing.cu, masked_fill__cuda; a value that is a tensor is read as a number."""
    if {x.device for x in (target, mask, value) if x} == {CPU}:
        return CPU
    if value and target.device == CPU:
        raise Refused("masked_fill_: Expected inputs to be on same device")
    if target.device != mask.device:
        raise Refused(
            "expected self and mask to be on the same device, but got mask on "
            f"{mask.device} and self on {target.device}"
        )
    if mask.twin.dtype != torch.bool:
        raise Refused("masked_fill only supports boolean masks, but got dtype Float")
    return str(target.device)


def addcmul(first: Any, second: Any, third: Any) -> str:
    """cuda/PointwiseOpsKernel.cu, after TensorIterator: of single numbers on the CPU, only the third is taken."""
    home = iterator([], [first, second, third])
    if home != CPU and first.device == CPU:
        raise Refused("CPU Scalar support for self argument is not supported when calling addcmul on CUDA tensors.")
    if home != CPU and second.device == CPU:
        raise Refused(
            "CPU Scalar support for tensor1 argument is not supported when calling addcmul on CUDA tensors. However, "
            "CPU Scalar support for tensor2 is supported, please swap your tensor1 and tensor2 terms."
        )
    return home


def has_kernel(name: str, kernels: Any, operands: Sequence[Any]) -> None:
    """core/dispatch/OperatorEntry.cpp, reportError: CUDA's kernel is called if one of the tensors is on a GPU."""
    backend = CPU if all(x.device == CPU for x in operands) else "cuda"
    if kernels is not None and backend not in kernels:
        raise Refused(
            f"Could not run 'random_programs::{name}' with arguments from the '{backend.upper()}' backend. This could "
            "be because the operator doesn't exist for this backend, or was omitted during the selective/custom build "
            "process (if using custom build). If you are a Facebook employee using PyTorch on mobile, please visit "
            "https://fburl.com/ptmfixes for possible resolutions.",
            NotImplementedError,
        )


def gradient_for(output: Any, gradient: Any) -> None:
    """torch/csrc/autograd/engine.cpp, validate_outputs: a single number is moved; of a subclass nothing is asked.

    What `Passing` computes is a plain tensor, and the node of `x.as_subclass(Passing)` was made for one.
    """
    if output.is_leaf and isinstance(output.twin, Passing):
        return
    if gradient.shape and gradient.device != output.device:
        raise Refused(f"invalid gradient at index 0 - expected device {output.device} but got {gradient.device}")


def assigned_gradient(tensor: Any, gradient: Any) -> None:
    """torch/csrc/autograd/python_variable.cpp, THPVariable_set_grad."""
    kinds = [x.device.partition(":")[0] for x in (gradient, tensor)]
    if kinds[0] != kinds[1]:
        raise Refused(
            f"attempting to assign a gradient with device type '{kinds[0]}' to a tensor with device type '{kinds[1]}'. "
            "Please ensure that the gradient and the tensor are on the same device"
        )
    if gradient.device != tensor.device:
        # An index is printed as the character of that number, and the first zero ends the text.
        places = [chr(int(x.device.partition(":")[2])) for x in (gradient, tensor)]
        text = (
            f"attempting to assign a gradient located on device with index '{places[0]}' to a tensor located on device "
            f"with index '{places[1]}'. Please ensure that the gradient and the tensor are on the same device"
        )
        raise Refused(text.partition("\0")[0])


def as_numpy(tensor: Any) -> None:
    """torch/csrc/utils/tensor_numpy.cpp, after detach(), which gives a TwoTensor again."""
    if isinstance(tensor.twin, TwoTensor):
        raise Refused(".numpy() is not supported for tensor subclasses.")
    if tensor.device != CPU:
        raise Refused(
            f"can't convert {tensor.device} device type tensor to numpy. "
            "Use Tensor.cpu() to copy the tensor to host memory first.",
            TypeError,
        )


def aliased_number(device: str) -> NoReturn:
    """torch/csrc/utils/tensor_new.cpp, asarray: an array without dimensions is copied first, and then has to stay."""
    raise Refused(f"can't alias tensor from device 'cpu' to '{device}'.", ValueError)
