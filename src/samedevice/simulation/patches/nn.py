"""The device checks that PyTorch makes at the beginning of neural network functions that it composes in C++.

As in composite_checks.py: kernels in front of the composed operators, one small function for each check, with PyTorch's
text and the source file it follows.
"""

import contextlib
import functools
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor

from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.rules import dtype_refusals, dtypes
from samedevice.simulation.rules.composite_kernels import Kernel
from samedevice.simulation.rules.errors import attention_on_several_devices, compare, found_two_devices
from samedevice.simulation.rules.tensor_iterator import broadcast
from samedevice.simulation.tensor import functorch
from samedevice.simulation.tensor.moving import move

_Hidden: TypeAlias = Tensor | Sequence[Tensor]  # an LSTM has two
_NOT_NORMALIZED = dtypes.BOOL | dtypes.INTEGERS | dtypes.FLOAT8  # by native/cuda/layer_norm_kernel.cu
_original_lengths = torch._VF._pack_padded_sequence


def replacements() -> Iterator[tuple[object, str, object]]:
    yield torch._VF, "_pack_padded_sequence", _pack_padded_sequence


def kernels() -> Iterator[tuple[str, Kernel]]:
    """The kernels to put in front of composed operators: (operator, kernel)."""
    for name in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
        yield f"{name}.input", _lstm if name == "lstm" else _recurrent
        yield f"{name}.data", _recurrent_packed
    for name in ("lstm_cell", "gru_cell"):
        yield name, functools.partial(_cell, f"wrapper_CUDA___thnn_fused_{name}")
    yield "_batch_norm_impl_index", _batch_norm
    yield "_weight_norm", _weight_norm
    yield "cdist", _cdist
    yield "cosine_similarity", _cosine_similarity
    yield "ctc_loss.Tensor", _ctc_loss
    yield "prelu", _prelu
    yield "rms_norm", _rms_norm
    yield "scaled_dot_product_attention", _attention


def kernels_for_complex_tensors() -> Iterator[tuple[str, Kernel]]:
    """Yield the kernels that matter only once a program has made a complex tensor."""
    for name in ("conv1d", "conv2d", "conv3d"):
        yield name, _complex_convolution
        yield f"{name}.padding", _complex_convolution
    for name in ("conv_transpose1d", "conv_transpose2d.input", "conv_transpose3d.input"):
        yield name, _complex_convolution


def _complex_convolution(
    compose: Kernel, inputs: Tensor, weight: Tensor, bias: Tensor | None = None, *rest: Any, **options: Any
) -> Any:
    """native/Convolution.cpp, complex_convolution: it compares types before it splits complex tensors."""
    if inputs.is_complex() and device_of(inputs) is not CPU:
        if weight.type() != inputs.type():
            raise RuntimeError(dtypes.types_differ(inputs, "weight", weight))
        if bias is not None and bias.dtype is not inputs.dtype:
            names = dtypes.NAMES_IN_CPP[inputs.dtype], dtypes.NAMES_IN_CPP.get(bias.dtype, str(bias.dtype))
            raise RuntimeError(f"Input type ({names[0]}) and bias type ({names[1]}) should be the same")
    return compose(inputs, weight, bias, *rest, **options)


def _recurrent(compose: Kernel, inputs: Tensor, hidden: _Hidden, parameters: Sequence[Tensor], *rest: Any) -> Any:
    """native/RNN.h, check_attributes: first the hidden state, then the parameters."""
    _check_attributes(inputs, hidden, parameters)
    return compose(inputs, hidden, parameters, *rest)


def _lstm(
    compose: Kernel, inputs: Tensor, hidden: _Hidden, parameters: Sequence[Tensor], has_biases: bool, *rest: Any
) -> Any:
    """Check as above; without biases compose other operators, because oneDNN's backward would end the process."""
    if has_biases or device_of(inputs) is CPU:
        return _recurrent(compose, inputs, hidden, parameters, has_biases, *rest)
    enabled = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    try:
        return _recurrent(compose, inputs, hidden, parameters, has_biases, *rest)
    finally:
        torch._C._set_mkldnn_enabled(enabled)


def _recurrent_packed(
    compose: Kernel, data: Tensor, batch_sizes: Tensor, hidden: _Hidden, parameters: Sequence[Tensor], *rest: Any
) -> Any:
    """native/RNN.cpp leaves a packed input to its operators; cuDNN's (native/cudnn/RNN.cpp) checks as above."""
    if device_of(data) is CPU:
        _first_products(data, hidden, parameters, *rest)
    else:
        _check_attributes(data, hidden, parameters)
    return compose(data, batch_sizes, hidden, parameters, *rest)


def _first_products(data: Tensor, hidden: _Hidden, parameters: Sequence[Tensor], has_biases: bool, *_: Any) -> None:
    """The products that a layer begins with, of the input and of its state, each with the weights and the bias."""
    state = hidden if isinstance(hidden, torch.Tensor) else hidden[0]
    for number, mat1 in enumerate((data, state)):
        if has_biases:
            bias = parameters[2 + number]
            compare("wrapper_CUDA_addmm", ("self", bias), ("mat1", mat1), ("mat2", parameters[number]))
        else:
            compare("wrapper_CUDA_mm", ("self", mat1), ("mat2", parameters[number]))


def _check_attributes(inputs: Tensor, hidden: _Hidden, parameters: Sequence[Tensor]) -> None:
    here = device_of(inputs)
    hidden = [hidden] if isinstance(hidden, torch.Tensor) else hidden
    for name, tensors in (("hidden", hidden), ("parameter", parameters)):
        for tensor in tensors:
            if device_of(tensor) != here and not (tensor.dim() == 0 and device_of(tensor) is CPU):
                raise RuntimeError(
                    f"Input and {name} tensors are not at the same device, found input tensor at {here} "
                    f"and {name} tensor at {device_of(tensor)}"
                )


def _cell(
    method: str, compose: Kernel, inputs: Tensor, hidden: _Hidden, input_weight: Tensor, hidden_weight: Tensor,
    input_bias: Tensor | None = None, hidden_bias: Tensor | None = None,
) -> Any:  # fmt: skip
    """native/RNN.cpp, lstm_cell and gru_cell: for a GPU's fused kernel the products are made without the biases."""
    state, *memory = [hidden] if isinstance(hidden, torch.Tensor) else hidden
    shape = [inputs.size(0), hidden_weight.size(1)]
    # check_rnn_cell_forward_input and check_rnn_cell_forward_hidden refuse other shapes, before anything is compared.
    shapes_fit = inputs.size(1) == input_weight.size(1) and all(list(x.shape) == shape for x in (state, *memory))
    if device_of(inputs) is not CPU and shapes_fit:
        for factor, weight in ((inputs, input_weight), (state, hidden_weight)):
            compare("wrapper_CUDA_mm", ("self", factor), ("mat2", weight))
            dtypes.expect_one(factor, weight)
        if memory and memory[0].dtype is not inputs.dtype:  # read by the fused kernel
            names = dtypes.name_of(inputs), dtypes.name_of(memory[0])
            raise RuntimeError(f"expected scalar type {names[0]} but found {names[1]}")
        biases = ("input_bias", input_bias), ("hidden_bias", hidden_bias)
        if memory:
            compare(method, ("input_gates", inputs), ("hidden_gates", state), ("cx", memory[0]), *biases)
        else:
            compare(method, ("input_gates", inputs), ("hidden_gates", state), ("hx", state), *biases)
    return compose(inputs, hidden, input_weight, hidden_weight, input_bias, hidden_bias)


def _cdist(compose: Kernel, x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: int | None = None) -> Any:
    """native/Distance.cpp: by matrix products, which more than 25 rows are worth, cdist_impl comes to compare types."""
    many = x1.dim() > 1 and x2.dim() > 1 and max(x1.size(-2), x2.size(-2)) > 25
    if p == 2 and (compute_mode == 1 or (many and not compute_mode)):
        one, other = device_of(x1), device_of(x2)
        if one.type != other.type:
            raise RuntimeError(f"X1 and X2 must have the same device type. X1: {one.type} X2: {other.type}")
        if one != other:  # an index is an int8, hence printed as a character, and the first zero ends the text
            text = f"device of X1 ({chr(one.index)}) must match device of X2 ({chr(other.index)})"
            raise RuntimeError(text.partition("\0")[0])
    return compose(x1, x2, p, compute_mode)


def _cosine_similarity(compose: Kernel, first: Tensor, second: Tensor, dim: int = 1, *rest: Any) -> Any:
    """native/Distance.cpp, cosine_similarity: eps, made where the first is, clamps the norm of the second.

    Before, the common dtype and the shapes are looked at, and then the dimension.
    """
    rank = max(first.dim(), second.dim(), 1)
    dtype = torch.promote_types(first.dtype, second.dtype)
    if dtype.is_floating_point:
        broadcast(list(first.shape), list(second.shape))
    if dtype.is_floating_point and -rank <= dim < rank:
        compare("wrapper_CUDA_clamp_min__Tensor", ("self", second), ("min", first))
    return compose(first, second, dim, *rest)


def _ctc_loss(
    compose: Kernel, scores: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor, *rest: Any
) -> Any:
    """native/LossCTC.cpp, ctc_loss: the lengths, from anywhere, are brought to where the loss is."""
    return compose(scores, targets, input_lengths, move(target_lengths, device_of(scores)), *rest)


def _weight_norm(compose: Kernel, direction: Tensor, magnitude: Tensor, *rest: Any) -> Any:
    """native/WeightNorm.cpp, _weight_norm."""
    if device_of(direction) != device_of(magnitude):
        raise RuntimeError(
            "weight_norm: expected v_in and g_in to be on the same device, "
            f"but v_in is on {device_of(direction)} and g_in is on {device_of(magnitude)}"
        )
    return compose(direction, magnitude, *rest)


def _attention(
    compose: Kernel, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, *rest: Any,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """native/transformers/attention.cpp, validate_sdpa_input; the mask meets the check of the kernel that is chosen."""
    here = device_of(query)
    same_type = query.dtype is key.dtype is value.dtype  # else PyTorch refuses that first
    if same_type and not here == device_of(key) == device_of(value):
        attention_on_several_devices(here, device_of(key), device_of(value))
    if attn_mask is not None and device_of(attn_mask) != here and here is not CPU:
        if not _is_efficient(query, value):
            found_two_devices(here, device_of(attn_mask))
        compare("wrapper_CUDA___scaled_dot_product_efficient_attention", ("query", query), ("attn_bias", attn_mask))
    if same_type and here is not CPU and attn_mask is not None and attn_mask.dtype is torch.float32:
        # native/transformers/cuda/attention.cu, _efficient_attention_forward: the check before lets float32 pass
        by_efficient = torch._C._get_mem_efficient_sdp_enabled() and _is_efficient(query, value)
        if by_efficient and query.dtype in dtypes.HALVES and _covers(attn_mask, query, key):
            raise RuntimeError("invalid dtype for bias - should match query's dtype")
    if query.is_nested and device_of(query) is not CPU:
        # CUDA's kernels take nested tensors in any order; the CPU's composition takes contiguous ones.
        query, key, value = query.contiguous(), key.contiguous(), value.contiguous()
    with contextlib.ExitStack() as chosen:
        if here is not CPU and not query.is_nested and same_type:
            chosen.enter_context(_backend(query, value, attn_mask))
        return compose(query, key, value, attn_mask, *rest, **kwargs)


def _covers(attn_mask: Tensor, query: Tensor, key: Tensor) -> bool:
    """Tell whether a mask can be expanded to the shape of the scores. PyTorch expands it before this check."""
    scores = (*query.shape[:-1], key.size(-2))
    try:
        return torch.broadcast_shapes(attn_mask.shape, scores) == scores
    except RuntimeError:
        return False


@contextlib.contextmanager
def _backend(query: Tensor, value: Tensor, attn_mask: Tensor | None) -> Iterator[None]:
    """native/transformers/cuda/sdp_utils.cpp, select_sdp_backend: choose among the enabled kernels.

    The CPU has other kernels. The math kernel runs on every processor, so it computes here.
    """
    math, flash = torch._C._get_math_sdp_enabled(), torch._C._get_flash_sdp_enabled()
    efficient, cudnn = torch._C._get_mem_efficient_sdp_enabled(), torch._C._get_cudnn_sdp_enabled()
    if math or not (flash or efficient or cudnn):  # without any kernel, PyTorch raises its own error
        yield
        return
    halves = query.dtype in dtypes.HALVES and query.dim() == 4 and max(query.size(-1), value.size(-1)) <= 256
    if not (
        (flash and halves and attn_mask is None and query.size(-1) == value.size(-1))
        or (efficient and _is_efficient(query, value))
        or (cudnn and halves and query.size(-1) % 8 == value.size(-1) % 8 == 0)
    ):
        raise RuntimeError("No available kernel. Aborting execution.")
    torch._C._set_sdp_use_math(True)
    try:
        yield
    finally:
        torch._C._set_sdp_use_math(False)


def _is_efficient(query: Tensor, value: Tensor) -> bool:
    """native/transformers/cuda/sdp_utils.cpp, can_use_mem_efficient_attention, for a GPU of capability 8 or more."""
    alignment = {torch.float32: 4, torch.float16: 8, torch.bfloat16: 8}.get(query.dtype)
    if alignment is None or query.dim() != 4:
        return False
    return bool(query.size(-1) % alignment == 0 and value.size(-1) % alignment == 0)


def _rms_norm(compose: Kernel, inputs: Tensor, normalized_shape: Any, weight: Tensor | None = None, *rest: Any) -> Any:
    """native/layer_norm.cpp, rms_norm: shapes first, then on CUDA one fused kernel, with its generated check.

    It is for one dtype; two are multiplied step by step. vmap has no rule for that kernel, and composes it of others.
    """
    shape = list(normalized_shape)
    if functorch.in_vmap(inputs):
        return compose(inputs, normalized_shape, weight, *rest)
    fused = weight is None or weight.dtype is inputs.dtype
    if fused and list(inputs.shape)[-len(shape) :] == shape and (weight is None or list(weight.shape) == shape):
        compare("wrapper_CUDA___fused_rms_norm", ("input", inputs), ("weight", weight))
        if device_of(inputs) is not CPU and inputs.numel() and inputs.dtype in _NOT_NORMALIZED:
            raise NotImplementedError(f"\"LayerNormKernelImpl\" not implemented for '{dtypes.NAMES[inputs.dtype]}'")
    return compose(inputs, normalized_shape, weight, *rest)


def _batch_norm(
    compose: Kernel, inputs: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor | None,
    var: Tensor | None, *rest: Any,
) -> Any:  # fmt: skip
    """native/Normalization.cpp, _select_batch_norm_backend: images with weight and bias go to cuDNN's kernel."""
    if functorch.in_vmap(inputs):
        _compare_in_vmap(inputs, weight, bias, mean, var, rest[0])
        return compose(inputs, weight, bias, mean, var, *rest)
    if device_of(inputs) is CPU:
        return compose(inputs, weight, bias, mean, var, *rest)
    by_cudnn = inputs.dim() > 2 and weight is not None and bias is not None
    # _batch_norm_impl_index refuses other sizes, and evaluation without statistics, before anything is compared.
    sizes_fit = by_cudnn and all(x is None or x.numel() == inputs.size(1) for x in (mean, var, weight, bias))
    if sizes_fit and (rest[0] or (mean is not None and var is not None)):
        operands = ("input", inputs), ("weight", weight), ("bias", bias), ("running_mean", mean)
        compare("wrapper_CUDA__cudnn_batch_norm", *operands, ("running_var", var))
    try:
        return compose(inputs, weight, bias, mean, var, *rest)
    except RuntimeError as error:
        refusal = dtype_refusals.batch_is_normalized((inputs, weight, bias, mean, var, *rest), {})
        if refusal is not None and not rest[0]:
            raise refusal from None
        text = _mixed_batch_norm(inputs, weight, bias, by_cudnn)
        if text is not None:
            raise RuntimeError(text) from None
        about_dtypes = "mixed dtype (CPU)" in str(error) or "expected scalar type" in str(error)
        if not about_dtypes or mean is None or var is None:
            raise
    # CUDA's kernel reads and writes the statistics in their own dtype.
    statistics = mean.to(inputs.dtype), var.to(inputs.dtype)
    result = compose(inputs, weight, bias, *statistics, *rest)
    mean.copy_(statistics[0])
    var.copy_(statistics[1])
    return result


def _compare_in_vmap(
    inputs: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor | None, var: Tensor | None, training: bool
) -> None:
    """functorch/BatchRulesNorm.cpp multiplies by the weight afterwards, and makes new statistics of the program's.

    The kernel's own check could not tell these any more, so they are compared before it.
    """
    if training and mean is not None and not functorch.in_vmap(mean):
        return  # refused: they would be written to
    by_cudnn = inputs.dim() > 2 and weight is not None and bias is not None and device_of(inputs) is not CPU
    kernel = "wrapper_CUDA__cudnn_batch_norm" if by_cudnn else "wrapper_CUDA__native_batch_norm"
    compare(kernel, ("input", inputs), ("running_mean", mean), ("running_var", var))


def _mixed_batch_norm(inputs: Tensor, weight: Tensor, bias: Tensor, by_cudnn: bool) -> str | None:
    """native/cudnn/BatchNorm.cpp, and native/cuda/Normalization.cuh: weights are in the dtype that sums are made in."""
    by_cudnn = by_cudnn and torch.bfloat16 not in (inputs.dtype, weight.dtype)
    if by_cudnn and inputs.dtype is not torch.float16 and inputs.dtype is not weight.dtype:
        return (
            "Expected tensor for argument #1 'input' to have the same type as tensor for argument #2 'weight'; but "
            f"type {inputs.type()} does not equal {weight.type()} (while checking arguments for cudnn_batch_norm)"
        )
    if not inputs.is_floating_point():
        return None
    summed = torch.float64 if inputs.dtype is torch.float64 else torch.float32
    expected = "Double" if summed is torch.float64 else "Float"
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and parameter.dtype not in (inputs.dtype, summed):
            found = dtypes.name_of(parameter)
            if inputs.dim() > 2:
                return f"Expected {name} to have type {expected} but got {found}"
            return f"expected scalar type {expected} but found {found}"
    return None


def _prelu(compose: Kernel, inputs: Tensor, weight: Tensor) -> Any:
    """native/Activation.cpp, prelu: the weight, a scalar too, meets the generated check of _prelu_kernel.

    Before, its dtype and its number of channels are compared.
    """
    channels = inputs.size(1) if inputs.dim() > 1 else 1
    if inputs.dtype is weight.dtype and weight.dim() < 2 and weight.numel() in (1, channels):
        compare("wrapper_CUDA___prelu_kernel", ("self", inputs), ("weight", weight))
    return compose(inputs, weight)


def _pack_padded_sequence(inputs: Tensor, lengths: Tensor, *rest: Any) -> Any:
    """native/PackedSequence.cpp, _pack_padded_sequence."""
    if device_of(lengths) is not CPU:
        dtype = lengths.type().rpartition(".")[2].removesuffix("Tensor")
        raise RuntimeError(
            "'lengths' argument should be a 1D CPU int64 tensor, "
            f"but got {lengths.dim()}D {device_of(lengths)} {dtype} tensor"
        )
    return _original_lengths(inputs, lengths, *rest)
