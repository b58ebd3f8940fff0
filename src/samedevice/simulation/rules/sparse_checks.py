"""The device checks that CUDA's kernels for sparse tensors make by hand, one function each, with the source file.

BY_KERNEL has PyTorch's own names of these kernels. Each check takes the operands, and returns the device of the result.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import torch

from samedevice.simulation.device.devices import CPU, not_equal
from samedevice.simulation.rules.errors import accuse, compare
from samedevice.simulation.rules.layout_kinds import name_of
from samedevice.simulation.rules.sparse_refusals import DENSE_ON_CPU, add_rows
from samedevice.simulation.rules.tensor_iterator import Operand, broadcast, named, tensor_iterator


def _add(operands: Sequence[Operand]) -> torch.device:
    """native/sparse/cuda/SparseCUDATensorMath.cu, add_out_sparse_cuda."""
    self, other = _pair(operands)
    operands = _with_result(operands, self)
    if not _is_sparse(self):
        _on_gpus(operands, "add: expected '{name}' to be a CUDA tensor, but got a CPU tensor", "self", "other", "out")
        return _on_one_gpu(operands, "sparse, r_, dense")
    if not _is_sparse(other):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    _on_gpus(operands, "add: expected '{name}' to be CUDA, but got CPU", "self", "other", "out")
    return _on_one_gpu(operands, "r_, t, src")


def _add_compressed(operands: Sequence[Operand]) -> torch.device:
    """native/sparse/cuda/SparseCsrTensorMath.cu, add_out_sparse_compressed_cuda."""
    self, other = _pair(operands)
    if self.tensor.layout is torch.sparse_coo:
        raise RuntimeError("memory format option is only supported by strided tensors")  # of empty_like
    dense, sparse = (self, other) if not _is_sparse(self) else (other, self)
    if _is_sparse(dense):
        if self.tensor.shape != other.tensor.shape:
            raise RuntimeError(
                "torch.add: Expected input tensors to have the same shape, but got tensor `self` with shape "
                f"{list(self.tensor.shape)} and tensor `other` with shape {list(other.tensor.shape)}"
            )
        text = "add: expected '{name}' to be CUDA tensor, but got tensor on device: cpu"
        _on_gpus(_with_result(operands, self), text, "self", "other", "out")
        add_rows([self.tensor, other.tensor])
        return tensor_iterator(operands)
    if dense.device is CPU:
        raise RuntimeError(DENSE_ON_CPU)
    if sparse.device is CPU:
        raise RuntimeError("add: expected 'other' to be a CUDA tensor, but got tensor on device: cpu")
    device: torch.device = dense.device  # two GPUs are not compared
    return device


def _multiply(operands: Sequence[Operand]) -> torch.device:
    """native/sparse/cuda/SparseCUDATensorMath.cu, mul_out_sparse_cuda."""
    self, other = _pair(operands)
    sparse, dense = (self, other) if _is_sparse(self) else (other, self)
    if not _is_sparse(self) and self.is_written:  # mul_sparse_: the product is made, then added
        _multiply([self._replace(is_written=False), other])
        return tensor_iterator(operands)
    operands = _with_result(operands, sparse)
    text = "mul: expected '{name}' to be CUDA, but got CPU"
    _on_gpus(operands, text, "out")
    if _is_sparse(dense):
        _on_gpus(operands, text, "self", "other")
        return _on_one_gpu(operands, "r_, t_, src_")
    broadcast(list(dense.tensor.shape), list(sparse.tensor.shape))
    factors = [dense, sparse._replace(is_written=False)]
    if dense.tensor.dim() <= sparse.tensor.dense_dim():
        return tensor_iterator(factors)
    if dense.device != sparse.device and sparse.device is not CPU:
        # native/SparseTensorMath.cpp, intersection_binary_op_sparse_dense_out: the indices choose from the dense one
        raise RuntimeError(
            f"indices should be either on cpu or on the same device as the indexed tensor ({dense.device})"
        )
    home = tensor_iterator(factors)
    if operands[0].device.type != home.type:  # aten/src/ATen/SparseTensorImpl.cpp, set_indices_and_values_unsafe
        raise RuntimeError(
            f"device type of values ({home.type}) must match device type of device().type(){operands[0].device.type})"
        )
    return home


def _multiply_compressed(operands: Sequence[Operand]) -> torch.device:
    """native/sparse/SparseTensorMath.cpp, mul_sparse_csr: through a mask, or through COO."""
    self, other = _pair(operands)
    if 0 in (self.tensor.dim(), other.tensor.dim()):
        return tensor_iterator(operands)
    for dense, sparse in ((other, self), (self, other)):
        if sparse.tensor.layout is torch.sparse_csr and not _is_sparse(dense):
            compare("wrapper_SparseCsrCUDA__sparse_mask", ("self", dense.tensor), ("mask", sparse.tensor))
    result = next((x for x in operands if x.is_out), self)
    if result.tensor.layout in (torch.sparse_bsr, torch.sparse_bsc):
        raise RuntimeError(
            "empty_sparse_compressed expected sparse compressed (non-block) tensor layout but got "
            + name_of(result.tensor.layout)
        )
    if result.tensor.layout is not torch.sparse_csr:
        raise RuntimeError("Expected result Tensor to be of format CSR")
    return _multiply([self._replace(is_written=False), other])


def _divide(function: str, operands: Sequence[Operand]) -> torch.device:
    """native/sparse/SparseTensorMath.cpp, div_out_sparse_zerodim and floor_divide_out_sparse_zerodim."""
    self, other = _pair(operands)
    for refused, found in (
        (other.tensor.dim() > 0, f"shape {list(other.tensor.shape)} for"),
        (other.tensor.layout is torch.sparse_coo, "a sparse"),
    ):
        if refused:
            raise RuntimeError(
                f"Sparse {function} requires a scalar or zero-dim dense tensor divisor (got {found} divisor)"
            )
    out, *inputs = _with_result(operands, self)
    return tensor_iterator([out._replace(is_written=True), *inputs])


def _copy(operands: Sequence[Operand]) -> torch.device:
    """native/Copy.cpp: from anywhere, but not from another layout."""
    device: torch.device = operands[0].device
    return device


def _matrix_and_vector(operands: Sequence[Operand]) -> NoReturn:
    """native/Blas.cpp, addmv and mv, of a compressed matrix: the result is made where the vector is."""
    inputs = {operand.name: operand for operand in operands}
    vector = inputs["vec"].device
    matrix = inputs["mat"] if "mat" in inputs else inputs["self"]
    _check_sizes(matrix.tensor, inputs["vec"].tensor, inputs["self"].tensor if "mat" in inputs else None)
    order = [("self", inputs["self"]), ("mat", matrix)] if "mat" in inputs else [("mat", matrix)]
    for name, operand in order:
        if operand.device != vector:
            accuse(name, operand.device, vector, "wrapper_SparseCsrCUDA_out_addmv_out")
    raise AssertionError("of tensors on one device")


def _check_sizes(matrix: torch.Tensor, vector: torch.Tensor, term: torch.Tensor | None) -> None:
    """native/Blas.cpp, addmv's meta function."""
    ranks = 1 if term is None else term.dim(), matrix.dim(), vector.dim()
    if ranks[0] > 1 or ranks[1:] != (2, 1):
        raise RuntimeError("vector + matrix @ vector expected, got {}, {}, {}".format(*ranks))
    rows, columns = matrix.shape
    first = rows if term is None else term.numel()
    if columns != len(vector) or first not in (1, rows):
        raise RuntimeError(f"size mismatch, got input ({first}), mat ({rows}x{columns}), vec ({len(vector)})")


def _triangular_solve(operands: Sequence[Operand]) -> torch.device | None:
    """native/LinearAlgebraUtils.h, linearSolveCheckInputs."""
    right, matrix = operands[-2:]
    if right.device != matrix.device:
        raise RuntimeError(
            f"Expected b and A to be on the same device, but found b on {right.device} and A on {matrix.device} "
            "instead."
        )
    return None


def _on_gpus(operands: Sequence[Operand], text: str, *names: str) -> None:
    """The checks that CUDA's kernels for sparse tensors begin with: they name the first operand on the CPU."""
    for name in names:
        operand = named(operands, name)
        if operand is not None and operand.device is CPU:
            raise RuntimeError(text.format(name=name))


def _on_one_gpu(operands: Sequence[Operand], order: str) -> torch.device:
    """aten/src/ATen/native/cuda/CUDAUtils.h, check_device."""
    if len({operand.device for operand in operands}) > 1:
        not_equal(f"cuda::check_device({{{order}}})")
    device: torch.device = operands[0].device
    return device


def _is_sparse(operand: Any) -> bool:
    return operand.tensor.layout is not torch.strided


def _pair(operands: Sequence[Operand]) -> tuple[Any, Any]:
    return named(operands, "self"), named(operands, "other")


def _with_result(operands: Sequence[Operand], at: Any) -> list[Any]:
    """The operands with a result, which the kernel makes where `at` is, unless out= or the first operand is it."""
    if any(x.is_out for x in operands):
        return list(operands)
    self = named(operands, "self")
    return [(self if self.is_written else at)._replace(name="out", is_out=True), *operands]


# Operators that PyTorch composes for a compressed matrix, of a function that writes into a new tensor.
COMPOSED_OF_COMPRESSED: dict[str, Callable[[Sequence[Any]], Any]] = {
    "addmv": _matrix_and_vector,
    "mv": _matrix_and_vector,
    "triangular_solve": _triangular_solve,
}

BY_KERNEL: dict[str, Callable[[Sequence[Any]], Any]] = {
    "add_out_sparse_compressed_cuda": _add_compressed,
    "add_out_sparse_cuda": _add,
    "add_sparse": _add,
    "add_sparse_": _add,
    "add_sparse_csr": _add_compressed,
    "add_sparse_csr_": _add_compressed,
    "copy_sparse_compressed_": _copy,
    "copy_sparse_wrapper_": _copy,
    "mul_out_sparse_csr": _multiply_compressed,
    "mul_out_sparse_cuda": _multiply,
    "mul_sparse": _multiply,
    "mul_sparse_": _multiply,
    "mul_sparse_csr": _multiply_compressed,
    "mul_sparse_csr_": _multiply_compressed,
    "sub_out_sparse": _add,
    "sub_sparse": _add,
    "sub_sparse_": _add,
    **dict.fromkeys(("div_sparse", "div_sparse_", "div_out_sparse_zerodim"), functools.partial(_divide, "division")),
    **dict.fromkeys(
        ("floor_divide_sparse", "floor_divide_sparse_", "floor_divide_out_sparse_zerodim"),
        functools.partial(_divide, "floor division"),
    ),
}
