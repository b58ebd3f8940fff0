"""What CUDA's kernels for sparse tensors refuse, or do otherwise than the CPU's, of tensors that are all on one GPU.

The kernels of the CPU compute (layouts.py). Each name here is one of PyTorch's own functions.
"""

from collections.abc import Callable
from typing import Any

import torch

from samedevice.simulation.rules.layout_kinds import SPARSE, name_of, refuse

# The kernel that operators without a kernel of their own come to.
COMPOSED_OF = {(SPARSE, "rsub.Scalar"): "rsub", (SPARSE, "_sparse_addmm"): "addmm_sparse_dense_cuda"}

NOT_IMPLEMENTED = {
    "rsub": "add: expected 'self' to be a CUDA tensor, but got a CPU tensor",  # a number is a tensor of the CPU
    "_sspaddmm_out_cuda": "NYI: CUDA sspaddmm is not implemented",
    # native/sparse/cuda/SparseCsrTensorMath.cu: PyTorch's wheels are built without cuDSS.
    "_sparse_csr_linear_solve": "Calling linear solver with sparse tensors requires compiling PyTorch with CUDA cuDSS "
    "and is not supported in ROCm build.",
}

# native/sparse/cuda/SparseCUDATensorMath.cu, add_out_sparse_cuda, puts the elements of both one behind the other.
CONCATENATE = ("add_sparse", "add_sparse_", "add_out_sparse_cuda", "sub_sparse", "sub_sparse_", "sub_out_sparse")

DENSE_ON_CPU = (
    'dense.is_cuda() INTERNAL ASSERT FAILED at "/__w/pytorch/pytorch/aten/src/ATen/native/sparse/cuda/'
    'SparseCsrTensorMath.cu":148, please report a bug to PyTorch. '
)


def uncoalesce(result: torch.Tensor, *terms: torch.Tensor) -> None:
    """Leave a sum of CONCATENATE uncoalesced, as it is on CUDA where two terms have elements."""
    with torch._C._DisableTorchDispatch():
        if result.is_sparse and result._nnz() > 1 and all(term.is_sparse and term._nnz() for term in terms):
            result._coalesced_(False)


def add_rows(tensors: list[torch.Tensor]) -> None:
    """native/sparse/cuda/SparseCsrTensorMath.cu, add_out_sparse_csr: cuSPARSE adds by row, without blocks."""
    if len(tensors) < 2:  # and a number, which is a tensor of the CPU
        raise RuntimeError(DENSE_ON_CPU)
    first = tensors[0].layout
    if first in (torch.sparse_csc, torch.sparse_bsc) and tensors[1].layout is first:
        raise RuntimeError(f"crow_indices expected sparse row compressed tensor layout but got {name_of(first)}")
    if first is torch.sparse_bsr and tensors[1].layout is first:
        raise RuntimeError("sparse compressed layout must be SparseCsr but got SparseBsr")


def _sparse_first(tensors: list[torch.Tensor]) -> None:
    """native/sparse/cuda/SparseCUDATensorMath.cu, s_addmm_out_sparse_dense_cuda."""
    if tensors[0].layout is torch.sparse_coo:
        refuse(torch.ops.aten.resize_.default, SPARSE, (tensors[0], tensors[0].shape), {})
    if len(tensors) > 1 and tensors[1].layout is torch.strided:
        raise RuntimeError(
            "addmm: expected first two dims to be sparse (indices has size 2 at first dim), but got 0 sparse dims"
        )


def _sparse_result(tensors: list[torch.Tensor]) -> None:
    """native/sparse/cuda/SparseBlasImpl.cpp, addmm_out_sparse_csr: two sparse factors have a sparse product."""
    result, first, second = (tensor.layout for tensor in tensors[:3])
    if result is torch.strided and torch.strided not in (first, second):
        raise RuntimeError(
            f"addmm: computation on CUDA is not implemented for Strided + {name_of(first)} @ {name_of(second)}"
        )


def _sparse_out(tensors: list[torch.Tensor]) -> None:
    """Refuse mm, where the result comes last."""
    first, second, out = tensors
    _sparse_result([out, first, second])


# Kernels that refuse on CUDA what they compute on the CPU, or in other words.
ON_ONE_GPU: dict[Any, Callable[[list[torch.Tensor]], None]] = {
    "add_sparse_csr": add_rows,
    "_sparse_csr_mm_out": _sparse_out,
    "addmm_sparse_compressed_dense": _sparse_result,
    "addmm_sparse_dense_cuda": _sparse_first,
    "s_addmm_sparse_dense_cuda_": _sparse_first,
}
