"""Sparse and nested tensors among an operator's arguments: the kernel that CUDA's build chooses for them.

PyTorch's dispatcher looks at all arguments together (c10/core/DispatchKey.h): the least dense layout chooses the
kernel, and one tensor on a GPU is enough for CUDA's. So a sparse tensor of the CPU beside a dense one of a GPU comes to
the kernel for sparse tensors on CUDA. PyTorch's table of operators says which kernels there are (native_functions.py).
A kernel that the table leaves unchecked compares devices by itself (sparse_checks.py, nested_checks.py).
"""

from typing import Any

import torch

from samedevice.simulation.calls import Arguments, Compute, Keywords, Overload
from samedevice.simulation.rules import (
    kernel_names,
    native_functions,
    nested_checks,
    only_cuda_computes,
    sparse_checks,
    sparse_refusals,
)
from samedevice.simulation.rules.layout_errors import reworded
from samedevice.simulation.rules.layout_kinds import COMPRESSED, NESTED, SPARSE, refuse
from samedevice.simulation.rules.native_functions import Operator
from samedevice.simulation.rules.tensor_iterator import Operand, generated, tensor_iterator

_KEYS = torch._C.DispatchKey
# Which compositions stand in for a kernel that a layout lacks (c10/core/DispatchKeySet.cpp, getBackendKeySetFromAlias).
_IMPLICIT = _KEYS.CompositeImplicitAutograd
_COMPOSED: dict[str, tuple[Any, ...]] = {
    SPARSE: (_IMPLICIT, _KEYS.CompositeExplicitAutograd),
    COMPRESSED: (_IMPLICIT, _KEYS.CompositeExplicitAutograd, _KEYS.CompositeExplicitAutogradNonFunctional),
    NESTED: (_IMPLICIT,),
}
# native/sparse/cuda also adds and multiplies halves and booleans (SparseCUDATensorMath.cu, SparseMatMul.cu).
_OF_ALL_DTYPES = (
    *(f"{name}{kind}" for name in ("add", "sub", "mul") for kind in (".Tensor", "_.Tensor", ".out")),
    "_sparse_sparse_matmul",
)
_BY_KERNEL = sparse_checks.BY_KERNEL | nested_checks.BY_KERNEL
_call_below = torch._C._disabled_torch_dispatch_impl  # see Note [Below the key]


def judge(
    kind: str, operator: Operator | None, func: Overload, operands: list[Operand], args: Arguments, kwargs: Keywords
) -> Any:
    """Do what judgement.judge does for operands of which at least one has a layout of this kind."""
    kernel = operator.kernels.get(f"{kind}CUDA") if operator is not None else None
    if operator is None or kernel is None:
        if operator is not None and kind == COMPRESSED and operator.name in sparse_checks.COMPOSED_OF_COMPRESSED:
            sparse_checks.COMPOSED_OF_COMPRESSED[operator.name](operands)
        for composed in _COMPOSED[kind]:
            if func.has_kernel_for_dispatch_key(composed):
                return composed
        return refuse(func, kind, args, kwargs)
    if not operator.no_check:
        is_out = any(x.is_out for x in operands)
        generated(operator, operands, f"wrapper_{kind}CUDA_{operator.overload}_{operator.name}" + "_out" * is_out)
    if kernel in _BY_KERNEL:
        return _BY_KERNEL[kernel](operands)
    if any(x.is_written for x in operands):
        return tensor_iterator(operands)
    run(kind, func, args, kwargs, _call_below)  # it compares no devices; what else it refuses comes first
    return operands[0].device


def run(kind: str, func: Overload, args: Arguments, kwargs: Keywords, compute: Compute) -> Any:
    """Compute on the CPU, by `compute`, what CUDA computes; raise what CUDA's build raises."""
    namespace, _, signature = func.name().partition("::")
    operator = native_functions.operator(signature) if namespace == "aten" else None
    if operator is not None:
        kernel = operator.kernels.get(f"{kind}CUDA", sparse_refusals.COMPOSED_OF.get((kind, signature)))
        if kernel is None and f"{kind}CPU" in operator.kernels:
            return refuse(func, kind, args, kwargs)
        if kernel in sparse_refusals.NOT_IMPLEMENTED:
            raise RuntimeError(sparse_refusals.NOT_IMPLEMENTED[kernel])
        if kernel in sparse_refusals.ON_ONE_GPU:
            sparse_refusals.ON_ONE_GPU[kernel](_tensors([*args, *kwargs.values()]))
        if not kwargs and nested_checks.broadcasts(kernel, args):
            return nested_checks.broadcast_rows(kernel, *args)
    try:
        result = compute(func._op, (), args, kwargs)
        if operator is not None and kernel in sparse_refusals.CONCATENATE:
            sparse_refusals.uncoalesce(result, *_tensors(args))
        return result
    except RuntimeError as error:
        if signature in _OF_ALL_DTYPES and kernel_names.refuses_dtype(error):
            return only_cuda_computes.in_another_dtype(func, args, kwargs, compute)
        raise reworded(error, _tensors(args)) from None


def _tensors(args: Arguments) -> list[torch.Tensor]:
    return [x for x in args if isinstance(x, torch.Tensor)]
