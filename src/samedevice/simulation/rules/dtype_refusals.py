"""Decide what CUDA says of dtypes that it does not compute, before the CPU computes.

cuda_kernels.py says which dtypes a kernel computes. Here is what else decides, and how a refusal is raised after what
PyTorch checks first.
"""

import functools
import re
from collections.abc import Callable
from typing import Any

import torch

from samedevice.simulation.calls import Arguments, Compute, Keywords, Overload
from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.rules import convolution, dtypes, kernel_choice


def refusal_of(operator: Overload) -> Callable[[Arguments, Keywords], Exception | None] | None:
    """Return the function that finds CUDA's error about this operator's dtypes, or None if there cannot be one."""
    namespace, _, packet = operator._schema.name.partition("::")
    if namespace != "aten":
        return None
    if packet in _CHECKED_FIRST:
        return _CHECKED_FIRST[packet]
    if not kernel_choice.has_one(packet):
        return None
    return functools.partial(by_kernel, packet)


def computed_at_once(operator: Overload) -> frozenset[torch.dtype]:
    """Return the first tensor's dtypes for which no check is needed before the CPU computes: it refuses the rest."""
    packet = operator._schema.name.partition("::")[2]
    arguments = operator._schema.arguments
    if not arguments or str(arguments[0].type) != "Tensor" or any(x.name == "dtype" for x in arguments):
        return frozenset()
    if packet in _CHECKED_FIRST:
        return _CHECKED_AFTERWARDS.get(packet, frozenset())
    return kernel_choice.always_computes(packet)


def is_about_dtypes(error: RuntimeError) -> bool:
    return bool(_ABOUT_DTYPES.search(str(error)))


def computes_usual_dtypes(operator: Overload) -> bool:
    """Tell whether CUDA computes all usual dtypes, so that only rare ones need a check."""
    packet = operator._schema.name.partition("::")[2]
    return packet not in _CHECKED_FIRST and kernel_choice.always_computes(packet) >= dtypes.USUAL


def by_kernel(packet: str, args: Arguments, kwargs: Keywords) -> Exception | None:
    """Return the error of CUDA's kernel about the dtype that it checks, or None if it computes it."""
    found = kernel_choice.of(packet, args, kwargs)
    if found is None or found[1] in found[0].dtypes or kernel_choice.asks_none(packet, args):
        return None
    return _no_kernel(found[0].name, found[1])


def refuse(text: Exception, operator: Overload, args: Arguments, kwargs: Keywords, compute: Compute) -> None:
    """Raise what CUDA says of dtypes that it has no kernel for and the CPU has; of other mistakes the CPU tells first.

    `compute` runs the operator on the CPU. It is given copies here, so a refused call changes nothing.
    """
    copy: Any = torch.ops.aten.clone.default
    arguments, named = torch.utils._pytree.tree_map_only(
        torch.Tensor, lambda x: compute(copy._op, (), (x,), {}), (args, kwargs)
    )
    try:
        result = compute(operator._op, (), arguments, named)
    except RuntimeError as error:
        if not _ABOUT_DTYPES.search(str(error)):
            return  # this error is raised when the operator really runs
        raise text from None
    if operator._schema.name == "aten::index":  # native/cuda/IndexKernel.cu, index_kernel: the dtype comes first
        raise text
    # What has no elements reaches no kernel, except of dot; a factor without any is enough.
    result = result[0] if isinstance(result, tuple) else result
    empty = isinstance(text, NotImplementedError) and (
        result.numel() == 0 or any(x.numel() == 0 for x in args[-2:] if isinstance(x, torch.Tensor))
    )
    if not empty or result.dim() == 0:
        raise text


def is_computed(packet: str, args: Arguments, kwargs: Keywords) -> bool:
    """Tell whether CUDA computes this, even if the CPU does not."""
    found = kernel_choice.of(packet, args, kwargs)
    return found is not None and (found[1] in found[0].dtypes or kernel_choice.asks_none(packet, args))


_ABOUT_DTYPES = re.compile(
    "not implemented for '|expected scalar type|following scalar types|mixed dtype|type .* should be the same|"
    "can't be cast|Unsupported dtype|expected m1 and m2|boolean masks|same dtypes|Only supports floating-point dtypes|"
    "Expected dtype int32 or int64 for index"
)


def _no_kernel(name: str, dtype: torch.dtype) -> Exception:
    """ATen/Dispatch.h: the kernel of this name has no code for the dtype."""
    return NotImplementedError(f"\"{name}\" not implemented for '{dtypes.NAMES[dtype]}'")


def _differs(expected: torch.Tensor, found: torch.Tensor) -> Exception:
    """ATen/core/TensorBase.h, data_ptr: a kernel chosen by one tensor's dtype refuses a tensor of another."""
    names = dtypes.NAMES[expected.dtype], dtypes.NAMES[found.dtype]
    return RuntimeError(f"expected scalar type {names[0]} but found {names[1]}")


def _halves_in_histogram(args: Arguments, kwargs: Keywords) -> Exception | None:
    """native/cuda/SummaryOps.cu, _histc_cuda."""
    if args[0].dtype is torch.float16:
        return RuntimeError("HalfTensor is not supported")
    return by_kernel("histc", args, kwargs)


def _integers_are_multiplied(args: Arguments, kwargs: Keywords) -> Exception | None:
    """native/cuda/Blas.cpp, _int_mm_out_cuda: cuBLAS takes matrices of some sizes."""
    first, second = args[:2]
    if first.dtype is not torch.int8 or (first.dim(), second.dim()) != (2, 2):
        return None
    if first.shape[0] <= 16:
        return RuntimeError(f"self.size(0) needs to be greater than 16, but got {first.shape[0]}")
    sizes = {"self.size(1)": first.shape[1], "mat2.size(1)": second.shape[1]}
    wrong = next((name for name, size in sizes.items() if size == 0 or size % 8), None)
    if wrong is None:
        return None
    return RuntimeError(f"{wrong} needs to be greater than 0 and a multiple of 8, but got {sizes[wrong]}")


def _rows_are_normalized(args: Arguments, kwargs: Keywords) -> Exception | None:
    """native/cuda/layer_norm_kernel.cu: it reads the weights as the input's dtype."""
    if 0 in args[0].shape[: args[0].dim() - len(args[1])]:
        return None  # no row, so no kernel
    if args[0].dtype not in dtypes.REAL:
        return _no_kernel("LayerNormKernelImpl", args[0].dtype)
    return _parameters_differ(args[0], args[2:4])


def _groups_are_normalized(args: Arguments, kwargs: Keywords) -> Exception | None:
    """native/cuda/group_norm_kernel.cu: it reads weights that passed check_mixed_data_type (group_norm.cpp)."""
    parameters = [x for x in args[1:3] if isinstance(x, torch.Tensor)]
    if 0 in args[0].shape[:1]:
        return None
    if args[0].dtype in dtypes.HALVES and all(x.dtype is torch.float32 for x in parameters):
        return _parameters_differ(args[0], parameters)
    alike = all(x.dtype is args[0].dtype for x in parameters)  # else refused before a kernel is asked
    return by_kernel("native_group_norm", args, kwargs) if alike else None


def _parameters_differ(inputs: torch.Tensor, parameters: Any) -> Exception | None:
    for parameter in parameters:
        if isinstance(parameter, torch.Tensor) and parameter.dtype is not inputs.dtype:
            return _differs(inputs, parameter)
    return None


def batch_is_normalized(args: Arguments, kwargs: Keywords) -> Exception | None:
    """native/cuda/Normalization.cu: training computes the batch's statistics; evaluation reads the running ones."""
    inputs, variance, training = args[0], args[4], args[5]
    computed = dtypes.REAL
    if inputs.numel() == 0:
        return None
    if training:
        return None if inputs.dtype in computed else _no_kernel("batch_norm_stats_cuda", inputs.dtype)
    if isinstance(variance, torch.Tensor) and variance.dtype not in computed:
        return _no_kernel("batch_norm_invert_std_cuda", variance.dtype)
    return None if inputs.dtype in computed else _no_kernel("batchnorm_forward", inputs.dtype)


def _classes_are_weighted(args: Arguments, kwargs: Keywords) -> Exception | None:
    """native/cuda/Loss.cu: the input's dtype chooses the kernel, which reads the weights as that dtype."""
    if isinstance(args[2], torch.Tensor) and args[2].dtype is not args[0].dtype:
        return _differs(args[0], args[2])
    refusal = by_kernel("nll_loss_forward", args, kwargs)
    return _class_numbers(args) if refusal is None and torch.__version__ < "2.12" else refusal


def _class_numbers(args: Arguments) -> Exception | None:
    """native/cuda/Loss.cu, AT_DISPATCH_NLL_LOSS_INDEX_TYPES; from torch 2.12 on, all devices refuse them before."""
    inputs, target, _, reduction = args[:4]
    if target.dtype in (torch.long, torch.uint8):
        return None
    reduced = "_no_reduce" if inputs.dim() > 1 and not reduction else "_reduce"
    shape = "_1d" if inputs.dim() < 2 else "_2d" if reduction else ""
    return _no_kernel(f"nll_loss_forward{reduced}_cuda_kernel{shape}_index", target.dtype)


def _middle(packet: str, args: Arguments, kwargs: Keywords) -> Exception | None:
    """native/cuda/Sorting.cpp, median_impl, sorts; the text of native/Sorting.cpp names the CPU on CUDA, too."""
    if args[0].is_complex() and len(args) < 2:
        return RuntimeError(" Sort does not support complex dtypes on CPU")
    return by_kernel(packet, args, kwargs)


def index_put(args: Arguments, kwargs: Keywords) -> Exception | None:
    """native/TensorAdvancedIndexing.cpp, make_info, where the CPU would fill by a mask, which converts.

    TensorAdvancedIndexingUtils.h, canDispatchToMaskedFill: the mask is beside its tensor, the one value on the CPU.
    """
    target, indices, values = args[:3]
    if target.dtype is values.dtype or values.numel() != 1:
        return by_kernel("index_put", args, kwargs)
    place = device_of(target)
    if device_of(values) is CPU and all(device_of(index) == place for index in indices if index is not None):
        return None
    return RuntimeError(
        f"Index put requires the source and destination dtypes match, got {dtypes.name_of(target)} for the "
        f"destination and {dtypes.name_of(values)} for the source."
    )


def _convolved(args: Arguments, kwargs: Keywords) -> Exception | None:
    if device_of(args[0]) is CPU:
        return None
    inputs, weight, bias = args[:3]
    return convolution.refused_dtypes(inputs, weight, bias, convolution.Parameters(*args[3:9]))


def _multiplied(args: Arguments, kwargs: Keywords) -> Exception | None:
    """native/cuda/Blas.cpp, addmm_out_cuda_impl: it compares the two dtypes before it calls the kernel."""
    mat1, mat2 = args[:2]
    if mat1.dtype is not mat2.dtype:
        return RuntimeError(dtypes.of_two_dtypes(mat1, mat2))
    return by_kernel("mm", args, kwargs)


def _masked(packet: str, args: Arguments, kwargs: Keywords) -> Exception | None:
    """native/cuda/Indexing.cu, masked_fill__cuda, and IndexKernel.cpp, masked_scatter__cuda: a mask holds booleans."""
    tensor, mask, source = args[:3]
    if kernel_choice.base(packet) == "masked_scatter":
        if tensor.dtype is not source.dtype:
            names = f"{dtypes.NAMES[tensor.dtype]} and {dtypes.NAMES[source.dtype]}"
            return RuntimeError(f"masked_scatter_: expected self and source to have same dtypes but got {names}")
        if mask.dtype is not torch.bool and mask.dtype in dtypes.NAMES_IN_CPP:
            name = dtypes.NAMES_IN_CPP[mask.dtype]
            return RuntimeError(f"masked_scatter_ only supports boolean masks, but got mask with dtype {name}")
    elif mask.dtype is not torch.bool:
        return RuntimeError(f"masked_fill only supports boolean masks, but got dtype {dtypes.NAMES[mask.dtype]}")
    return by_kernel(packet, args, kwargs)


def _transformed(args: Arguments, kwargs: Keywords) -> Exception | None:
    """native/cuda/SpectralOps.cpp, _fft_r2c_cufft: a TORCH_CHECK without a message."""
    if args[0].is_floating_point():
        return by_kernel("_fft_r2c", args, kwargs)
    return RuntimeError(
        "Expected self.is_floating_point() to be true, but got false.  (Could this error message be improved?  If so, "
        "please report an enhancement request to PyTorch.)"
    )


def _selected(args: Arguments, kwargs: Keywords) -> Exception | None:
    """native/cuda/Indexing.cu, index_select_out_cuda_impl: the places choose the kernel (AT_DISPATCH_INDEX_TYPES)."""
    index = args[2]
    if index.dtype in (torch.int32, torch.int64):
        return by_kernel("index_select", args, kwargs)
    return _no_kernel("index_select_out_cuda_impl", index.dtype)


_MASKED = ("masked_fill", "masked_fill_", "masked_scatter", "masked_scatter_")
# If the first tensor has one of these dtypes, the CPU refuses whatever CUDA refuses, so it may run first.
_CHECKED_AFTERWARDS = {
    "mm": dtypes.REAL | dtypes.COMPLEX,
    "nll_loss_forward": dtypes.REAL,
    "index_select": dtypes.ANY,
    **dict.fromkeys(_MASKED, dtypes.USUAL),
}
# Operators for which more than one dtype decides.
_CHECKED_FIRST: dict[str, Callable[[Arguments, Keywords], Exception | None]] = {
    "convolution": _convolved,
    "native_layer_norm": _rows_are_normalized,
    "native_group_norm": _groups_are_normalized,
    **dict.fromkeys(("native_batch_norm", "_native_batch_norm_legit", "_batch_norm_with_update"), batch_is_normalized),
    "nll_loss_forward": _classes_are_weighted,
    "mm": _multiplied,
    **{packet: functools.partial(_masked, packet) for packet in _MASKED},
    "_fft_r2c": _transformed,
    "histc": _halves_in_histogram,
    "_int_mm": _integers_are_multiplied,
    "index_select": _selected,
    "median": functools.partial(_middle, "median"),
    "nanmedian": functools.partial(_middle, "nanmedian"),
    **dict.fromkeys(("index_put", "index_put_", "_index_put_impl_"), index_put),
}
