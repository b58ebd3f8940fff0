"""The device checks that PyTorch makes at the beginning of functions that it composes of others in C++.

Each is a kernel in front of the composed operator (composite_kernels.py), with PyTorch's text and the source file it
follows. Those of neural networks are in patches/nn.py, those of linear algebra in linear_algebra.py. A few functions
reach no operator that could be met; their Python names are replaced instead.
"""

import functools
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.rules import dtypes, judgement
from samedevice.simulation.rules.composite_kernels import Kernel
from samedevice.simulation.rules.errors import (
    compare,
    expected_device,
    found_two_devices,
    not_a_gpu,
    out_tensor,
    type_in_errors,
)
from samedevice.simulation.rules.tensor_iterator import Operand, tensor_iterator
from samedevice.simulation.stand_ins import overridden

_linspace, _logspace = torch.linspace, torch.logspace


def replacements() -> Iterator[tuple[object, str, object]]:
    yield torch.cuda.jiterator._JittedFunction, "__call__", _jiterator
    for owner in (torch, torch.Tensor):
        yield owner, "histogram", _histogram(owner.histogram)
    spdiags = torch.ops.aten._spdiags.default
    yield (
        torch.sparse,
        "spdiags",
        _without_cuda(torch.sparse.spdiags, spdiags, torch.zeros(1, dtype=torch.long), [1, 1]),
    )
    for name in ("_foreach_mul", "_foreach_mul_", "_foreach_div", "_foreach_div_"):
        yield torch, name, _by_a_number(getattr(torch, name))
    for name in ("_foreach_addcmul", "_foreach_addcmul_", "_foreach_addcdiv", "_foreach_addcdiv_"):
        yield torch, name, _by_numbers(getattr(torch, name))
    yield torch, "histogramdd", _without_cuda(torch.histogramdd, torch.ops.aten._histogramdd_bin_edges.default, [1])


def kernels() -> Iterator[tuple[str, Kernel]]:
    """The kernels to put in front of composed operators: (operator, kernel)."""
    for name in ("quantile", "nanquantile"):
        for overload in ("", ".scalar", ".out", ".scalar_out"):
            yield name + overload, _quantile
    for name in ("stft", "stft.center", "istft"):
        yield name, functools.partial(_window, name.partition(".")[0])
    for overload in ("Tensor_Tensor_out", "Tensor_Scalar_out", "Scalar_out"):
        yield f"float_power.{overload}", _float_power
    for function in (_linspace, _logspace):
        for overload in ("Tensor_Tensor", "Tensor_Scalar", "Scalar_Tensor"):
            for out in ("", "_out"):
                yield f"{function.__name__}.{overload}{out}", functools.partial(_range, function)
    for overload in ("tensorarray", "tensorarrayint"):
        yield f"gradient.{overload}", _gradient
    yield from _BY_OPERATOR.items()


def _quantile(compose: Kernel, inputs: Tensor, q: Any, *rest: Any, out: Tensor | None = None, **kwargs: Any) -> Any:
    """native/Sorting.cpp, quantile_checks and quantile_out_impl."""
    if isinstance(q, torch.Tensor) and device_of(q) != device_of(inputs):
        raise RuntimeError("quantile() q tensor must be on the same device as the input tensor")
    if out is None:
        return compose(inputs, q, *rest, **kwargs)
    if out.dtype is inputs.dtype and device_of(out) != device_of(inputs):
        raise RuntimeError("quantile() out tensor must be on the same device as the input tensor")
    return compose(inputs, q, *rest, out=out, **kwargs)


def _window(name: str, compose: Kernel, inputs: Tensor, n_fft: int, *rest: Any, **kwargs: Any) -> Any:
    """native/SpectralOps.cpp, stft and istft: hop_length, win_length, window."""
    window = rest[2] if len(rest) > 2 else kwargs.get("window")
    if window is not None and device_of(window) != device_of(inputs):
        raise RuntimeError(
            f"{name} input and window must be on the same device but got self on {device_of(inputs)} "
            f"and window on {device_of(window)}"
        )
    try:
        return compose(inputs, n_fft, *rest, **kwargs)
    except RuntimeError as error:
        if device_of(inputs) is CPU or not str(error).startswith(f"{name}("):
            raise
        text = str(error)
        for tensor in (inputs,) if window is None else (inputs, window):
            given = tensor.type()
            text = text.replace(type_in_errors(given.replace(".cuda", "")), type_in_errors(given))
        raise RuntimeError(text) from None


def _gradient(compose: Kernel, inputs: Tensor, *, spacing: Any, **kwargs: Any) -> Any:
    """native/ReduceOps.cpp, gradient_helper."""
    for tensor in spacing:
        if device_of(tensor) != device_of(inputs):
            raise RuntimeError(
                "torch.gradient expected each tensor to be on the same device, "
                f"but got devices {device_of(inputs)} and {device_of(tensor)}!"
            )
    return compose(inputs, spacing=spacing, **kwargs)


def _tensor_split(compose: Kernel, inputs: Tensor, indices: Tensor, *rest: Any) -> Any:
    """native/TensorShape.cpp, tensor_split: a single number cannot be split, wherever the places are."""
    if device_of(indices) is not CPU and inputs.dim() > 0:
        raise RuntimeError(
            f"tensor_split expected tensor_indices_or_sections to be on cpu, but it's on {device_of(indices)}"
        )
    return compose(inputs, indices, *rest)


def _take_along_dim(compose: Kernel, inputs: Tensor, indices: Tensor, *rest: Any, **out: Any) -> Any:
    """native/TensorAdvancedIndexing.cpp, _take_along_dim_helper; with out=, that first."""
    for tensor in (*out.values(), indices):
        if device_of(tensor) != device_of(inputs):
            raise RuntimeError(
                f"Expected tensor to have {device_of(inputs)} Device, but got tensor with {device_of(tensor)} Device "
                "(while checking arguments for torch.take_along_dim():)"
            )
    return compose(inputs, indices, *rest, **out)


def _meshgrid(compose: Kernel, tensors: Any, **kwargs: Any) -> Any:
    """native/TensorShape.cpp, meshgrid."""
    if len({tensor.dtype for tensor in tensors}) > 1:
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    if len({device_of(tensor) for tensor in tensors}) > 1:
        raise RuntimeError("meshgrid expects all tensors to have the same device")
    return compose(tensors, **kwargs)


def _range(function: Any, compose: Kernel, *ends: Any, **kwargs: Any) -> Any:
    """native/RangeFactories.cpp, linspace and logspace: the ends are read as numbers, from anywhere."""
    if any(isinstance(end, torch.Tensor) and end.dim() for end in ends):
        return compose(*ends, **kwargs)  # refused
    return function(*(end.item() if isinstance(end, torch.Tensor) else end for end in ends), **kwargs)


def _float_power(compose: Kernel, base: Any, exponent: Any, *, out: Tensor) -> Any:
    """native/Pow.cpp, float_power_out: TensorIterator's checks, of out= too."""
    _iterate([base, exponent], out)
    return compose(base, exponent, out=out)


def _kron(compose: Kernel, first: Tensor, second: Tensor, *, out: Tensor) -> Any:
    """native/LinearAlgebra.cpp, kron_out: the product is made by TensorIterator, in place."""
    _iterate([first, second], out)
    return compose(first, second, out=out)


def _iterate(inputs: list[Any], out: Tensor) -> None:
    """TensorIterator's checks, where out= is not with the inputs; otherwise the operator inside makes them."""
    tensors = [x for x in inputs if isinstance(x, torch.Tensor)]
    if any(device_of(x) != device_of(out) for x in tensors):
        operands = [Operand("out", out, device_of(out), is_out=True, is_written=True)]
        operands += [Operand("self", x, device_of(x)) for x in tensors]
        tensor_iterator(operands)


def _diff(compose: Kernel, inputs: Tensor, n: int = 1, *rest: Any, out: Tensor) -> Any:
    """native/ReduceOps.cpp, diff_out_helper: where there is nothing to subtract, the input is copied."""
    if n == 0:
        dtypes.expected_scalar_type(inputs, out)
        expected_device(device_of(inputs), device_of(out))
    _iterate([inputs], out)
    return compose(inputs, n, *rest, out=out)


def _diag(compose: Kernel, inputs: Tensor, *rest: Any, out: Tensor) -> Any:
    """torchgen's CompositeViewCopyKernels.cpp, of diag_embed and diagonal_copy."""
    out_tensor(device_of(inputs), device_of(out))
    return compose(inputs, *rest, out=out)


def _msort(compose: Kernel, inputs: Tensor, *, out: Tensor) -> Any:
    """native/Sorting.cpp, msort_out: the indices, which it makes for itself, are where the input is."""
    compare("wrapper_CUDA_sort_out_values_stable", ("values", out), ("indices", inputs))
    return compose(inputs, out=out)


def _inverse_fourier(
    compose: Kernel, inputs: Tensor, s: Any = None, dim: Any = None, norm: Any = None, *, out: Tensor
) -> Any:
    """native/SpectralOps.cpp, fft_ihfftn_impl: of one dimension, the conjugate; it exchanges out= and the input."""
    if len(dim or s or inputs.shape) == 1:
        compare("wrapper_CUDA_out_conj_physical_out", ("out", inputs), ("self", out))
    return compose(inputs, s, *([] if dim is None else [dim, norm]), out=out)


def _normal_distribution(compose: Kernel, inputs: Tensor, *, out: Tensor) -> Any:
    """native/UnaryOps.cpp, special_ndtr_out."""
    if device_of(inputs) != device_of(out):
        found_two_devices(device_of(inputs), device_of(out))
    return compose(inputs, out=out)


def _jiterator(self: Any, *tensors: torch.Tensor, **kwargs: Any) -> Any:
    """native/cuda/jit_utils and torch/csrc/cuda: a TensorIterator that allows no scalars of the CPU."""
    home = tensor_iterator([Operand("self", x, device_of(x)) for x in tensors], cpu_scalars=0)
    if home is CPU:
        not_a_gpu(home)
    raise NotImplementedError(
        "samedevice does not simulate torch.cuda.jiterator, which compiles CUDA code: compute the same with torch's "
        "own functions"
    )


def _by_a_number(original: Any) -> Any:
    """native/cuda/ForeachBinaryOpScalarTensor.cu: a tensor of the CPU is read as a number, whatever its shape."""

    @functools.wraps(original)
    def by_a_number(*args: Any, **kwargs: Any) -> Any:
        is_tensor = len(args) == 2 and isinstance(args[1], torch.Tensor) and device_of(args[1]) is CPU and args[1].dim()
        if is_tensor and any(device_of(tensor) is not CPU for tensor in judgement.tensors_of(args[:1], None)):
            args = args[0], args[1].item()
        return original(*args, **kwargs)

    return by_a_number


def _by_numbers(original: Any) -> Any:
    """native/utils/ParamUtils.h and ForeachUtils.h, convert_tensor_to_scalar_list: the numbers are on the CPU."""

    @functools.wraps(original)
    def by_numbers(*args: Any, **kwargs: Any) -> Any:
        numbers = args[3] if len(args) > 3 else kwargs.get("scalars")
        if isinstance(numbers, torch.Tensor) and device_of(numbers) is not CPU:
            raise RuntimeError(f"Expected scalars to be on CPU, got {device_of(numbers)} instead.")
        return original(*args, **kwargs)

    return by_numbers


def _without_cuda(original: Any, operator: Any, *rest: Any) -> Any:
    """A function that PyTorch has for the CPU alone; its dispatcher says so."""

    @functools.wraps(original)
    def without_cuda(*args: Any, **kwargs: Any) -> Any:
        inputs = args[0] if args else next(iter(kwargs.values()), None)
        if isinstance(inputs, torch.Tensor) and not overridden(inputs) and device_of(inputs) is not CPU:
            operator.redispatch(torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA), inputs, *rest)
        return original(*args, **kwargs)

    return without_cuda


def _histogram(original: Any) -> Any:
    """torch.histogram, which is another operator where the bins are a tensor."""
    counted = _without_cuda(original, torch.ops.aten.histogram.bin_ct, 1)
    given = _without_cuda(original, torch.ops.aten.histogram.bins_tensor, torch.zeros(1))

    @functools.wraps(original)
    def histogram(*args: Any, **kwargs: Any) -> Any:
        bins = args[1] if len(args) > 1 else kwargs.get("bins")
        return (given if isinstance(bins, torch.Tensor) else counted)(*args, **kwargs)

    return histogram


_BY_OPERATOR: dict[str, Kernel] = {
    "diag.out": _diag,
    "diff.out": _diff,
    "fft_ihfft2.out": _inverse_fourier,
    "fft_ihfftn.out": _inverse_fourier,
    "kron.out": _kron,
    "meshgrid": _meshgrid,
    "meshgrid.indexing": _meshgrid,
    "msort.out": _msort,
    "special_ndtr.out": _normal_distribution,
    "take_along_dim": _take_along_dim,
    "take_along_dim.out": _take_along_dim,
    "tensor_split.tensor_indices_or_sections": _tensor_split,
}
