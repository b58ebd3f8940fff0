"""Which of its many convolutions PyTorch chooses, since each says something else of tensors on different devices.

aten/src/ATen/native/Convolution.cpp: select_conv_backend, ConvParams, check_input_same_type_as_parameters. cuDNN and
oneDNN compare types, not ordinals, with texts of their own; whatever they let through, and every native kernel, meets
the generated check. Which dtypes are convolved follows from the same choice.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from samedevice.simulation.calls import Arguments
from samedevice.simulation.device.devices import CPU
from samedevice.simulation.rules import dtypes
from samedevice.simulation.rules.errors import accuse, found_two_devices, type_in_errors
from samedevice.simulation.rules.native_functions import Operator
from samedevice.simulation.rules.tensor_iterator import Operand


class Parameters(NamedTuple):
    """The arguments of aten::convolution after input, weight and bias."""

    stride: Sequence[int]
    padding: Sequence[int]
    dilation: Sequence[int]
    transposed: bool
    output_padding: Sequence[int]
    groups: int

    @property
    def output_padding_is_big(self) -> bool:
        return any(padding >= stride for padding, stride in zip(self.output_padding, self.stride, strict=False))

    @property
    def is_dilated(self) -> bool:
        return any(dilation != 1 for dilation in self.dilation)


def method(inputs: torch.Tensor, weight: torch.Tensor, on_gpu: bool, parameters: Parameters) -> str:
    """The wrapper whose check the tensors meet; "oneDNN" where that would convolve."""
    dimensions = 2 if weight.dim() == 3 else weight.dim() - 2  # one dimension is convolved as two
    if on_gpu:
        if _is_depthwise(inputs, weight, parameters):
            return f"wrapper_CUDA__{'_' if dimensions == 2 else ''}conv_depthwise{dimensions}d"
        if not parameters.transposed:
            return "wrapper_CUDA__cudnn_convolution"
        if not parameters.output_padding_is_big:
            return "wrapper_CUDA__cudnn_convolution_transpose"
    elif _takes_one_dnn(inputs, weight, parameters):
        return "oneDNN"
    if parameters.transposed:
        return f"wrapper_CUDA_{'_' if dimensions == 3 else ''}slow_conv_transpose{dimensions}d"
    if parameters.is_dilated:
        return f"wrapper_CUDA__slow_conv_dilated{dimensions}d"
    return "wrapper_CUDA___slow_conv2d_forward" if dimensions == 2 else "wrapper_CUDA__slow_conv3d_forward"


def compares_types(name: str) -> bool:
    """Whether the method has its own text for tensors of different device types."""
    return name == "oneDNN" or "cudnn" in name


def refused_dtypes(
    inputs: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, parameters: Parameters
) -> Exception | None:
    """Return the error of a convolution on one GPU about its dtypes, or None if it computes."""
    others = [(name, x) for name, x in (("weight", weight), ("bias", bias)) if x is not None]
    differing = next(((name, x) for name, x in others if x.dtype is not inputs.dtype), None)
    if inputs.is_complex():  # complex_convolution, which splits it into real convolutions
        return None if differing is None else RuntimeError(dtypes.types_differ(inputs, *differing))
    chosen = method(inputs, weight, True, parameters)
    if compares_types(chosen):
        if differing is not None:
            return RuntimeError(dtypes.types_differ(inputs, *differing))
        return None if inputs.dtype in _CONVOLVED else _not_of_cudnn(inputs.dtype)
    if inputs.dtype not in _CONVOLVED:
        return NotImplementedError(f"\"{_KERNELS[chosen]}\" not implemented for '{dtypes.NAMES[inputs.dtype]}'")
    if differing is None:
        return None
    names = dtypes.NAMES[inputs.dtype], dtypes.NAMES[differing[1].dtype]
    return RuntimeError(f"expected scalar type {names[0]} but found {names[1]}")


_CONVOLVED = dtypes.REAL
# CUDA's methods outside cuDNN, and the names of their kernels: native/cuda/DepthwiseConv*.cu,
# NaiveConvolutionTranspose*.cu.
_KERNELS = {
    "wrapper_CUDA___conv_depthwise2d": "conv_depthwise2d_forward_cuda",
    "wrapper_CUDA__conv_depthwise3d": "conv_depthwise3d",
    "wrapper_CUDA_slow_conv_transpose2d": "slow_conv_transpose2d_out_cuda",
    "wrapper_CUDA__slow_conv_transpose3d": "slow_conv_transpose3d_out_cuda",
}


def _not_of_cudnn(dtype: torch.dtype) -> Exception:
    """ATen/cudnn/Types.cpp, getCudnnDataTypeFromScalarType: cuDNN knows three integer types.

    But cuDNN cannot convolve them: https://github.com/pytorch/pytorch/issues/152992.
    """
    if dtype in (torch.uint8, torch.int8, torch.int32):
        return RuntimeError("GET was unable to find an engine to execute this computation")
    return RuntimeError(f"getCudnnDataTypeFromScalarType() not supported for {dtypes.NAMES[dtype]}")


def _is_depthwise(inputs: torch.Tensor, weight: torch.Tensor, parameters: Parameters) -> bool:
    channels = inputs.size(inputs.dim() - weight.dim() + 1)
    return not parameters.transposed and channels == parameters.groups > 1 and weight.size(0) % channels == 0


def _takes_one_dnn(inputs: torch.Tensor, weight: torch.Tensor, parameters: Parameters) -> bool:
    """ConvParams::use_mkldnn, for two threads and more: what is small stays with the native kernel."""
    if inputs.dtype is not torch.float32 or not torch.backends.mkldnn.is_available():
        return False
    batched = inputs if inputs.dim() == weight.dim() else inputs.unsqueeze(0)
    channels, groups = batched.size(1), parameters.groups
    if parameters.transposed and (parameters.output_padding_is_big or channels == groups > 1):
        return False
    kernel = (1, *weight.shape[2:])[-2:]
    size = batched.numel() if batched.dim() < 5 else batched[..., 0].numel()
    return groups > 1 or min(kernel) > 3 or batched.size(0) > 1 or size > 20480


def _shapes_fit(args: Arguments) -> None:
    """Raise what check_shape_forward says, which comes first: the CPU says the same, and needs one sample for it."""
    if any(x is not None and x.is_complex() for x in args[:3]):
        return
    with torch._C._DisableTorchDispatch(), torch.no_grad():
        sample = torch.ops.aten.slice.Tensor(args[0], 0, 0, 1)
        like = [
            x if x is None else torch.ops.aten._to_copy.default(x, dtype=torch.float32) for x in (sample, *args[1:3])
        ]
        try:
            torch.ops.aten.convolution.default(*like, *args[3:])
        except RuntimeError as error:
            raise RuntimeError(str(error)) from None


def check(operator: Operator, operands: Sequence[Operand], args: Arguments) -> torch.device:
    """What convolution says of an input, a weight and a bias that are not all on one device."""
    inputs, weight, *_ = operands
    _shapes_fit(args)
    name = method(inputs.tensor, weight.tensor, inputs.device is not CPU, Parameters(*args[3:9]))
    if name == "wrapper_CUDA__slow_conv3d_forward":  # a kernel that CUDA has not: the dispatcher refuses it
        kernel: Any = torch.ops.aten.slow_conv3d_forward.default
        kernel.redispatch(
            torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA), *args[:2], [1] * 3, None, [1] * 3, [0] * 3
        )
    for other in operands[1:] if compares_types(name) else ():
        if other.device.type != inputs.device.type:
            kind = other.name
            tail = f" or input should be a MKLDNN tensor and {kind} is a dense tensor" if name == "oneDNN" else ""
            types = [type_in_errors(operand.tensor.type()) for operand in (inputs, other)]
            raise RuntimeError(f"Input type ({types[0]}) and {kind} type ({types[1]}) should be the same{tail}")
    accused = next(other for other in operands[1:] if other.device != inputs.device)
    if accused.name == "bias" and compares_types(name):
        found_two_devices(inputs.device, accused.device)  # cuDNN has no bias: it is added by TensorIterator
    accuse(accused.name, accused.device, inputs.device, name)
