"""Sparse and nested tensors among an operator's arguments: the kernel that CUDA's build chooses, and what it checks.

PyTorch's dispatcher looks at all arguments together (c10/core/DispatchKey.h): the least dense layout chooses the
kernel, and one tensor on a GPU is enough for CUDA's. So a sparse tensor of the CPU beside a dense one of a GPU comes to
the kernel for sparse tensors on CUDA. PyTorch's table of operators says which kernels there are (native_functions.py).
A kernel that the table leaves unchecked compares devices by itself: see BY_KERNEL, which has PyTorch's own names of
functions.
"""

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import torch

from samedevice.simulation.device.devices import CPU, device_of, not_equal
from samedevice.simulation.rules import native_functions
from samedevice.simulation.rules.errors import accuse, compare
from samedevice.simulation.rules.tensor_iterator import Operand, broadcast, generated, named, tensor_iterator

_KEYS = torch._C.DispatchKey
_DENSE, _SPARSE, _COMPRESSED, _NESTED = "", "Sparse", "SparseCsr", "NestedTensor"
_ORDER = (_DENSE, _SPARSE, _COMPRESSED, _NESTED)  # as in DispatchKey.h
# Which compositions stand in for a kernel that a layout lacks (c10/core/DispatchKeySet.cpp, getBackendKeySetFromAlias).
_IMPLICIT = _KEYS.CompositeImplicitAutograd
_COMPOSED: dict[str, tuple[Any, ...]] = {
    _SPARSE: (_IMPLICIT, _KEYS.CompositeExplicitAutograd),
    _COMPRESSED: (_IMPLICIT, _KEYS.CompositeExplicitAutograd, _KEYS.CompositeExplicitAutogradNonFunctional),
    _NESTED: (_IMPLICIT,),
}
_call_below = torch._C._disabled_torch_dispatch_impl


def kind_of(tensors: Any) -> str:
    """The name that the dispatcher has for the least dense layout among these tensors: "" where all are dense."""
    return max((_kind(tensor) for tensor in tensors), key=_ORDER.index, default=_DENSE)


def _kind(tensor: torch.Tensor) -> str:
    if tensor.is_nested:
        return _NESTED
    if tensor.layout is torch.sparse_coo:
        return _SPARSE
    return _COMPRESSED if tensor.layout in _COMPRESSED_LAYOUTS else _DENSE


_COMPRESSED_LAYOUTS = (torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc)


def judge(kind: str, operator: Any, func: Any, operands: list[Operand], args: Any, kwargs: Any) -> Any:
    """As judgement.judge, for operands of which at least one has a layout of this kind."""
    kernel = operator.kernels.get(f"{kind}CUDA") if operator is not None else None
    if operator is None or kernel is None:
        if operator is not None and kind == _COMPRESSED and operator.name in _COMPOSED_OF_COMPRESSED:
            _COMPOSED_OF_COMPRESSED[operator.name](operands)
        for composed in _COMPOSED[kind]:
            if func.has_kernel_for_dispatch_key(composed):
                return composed
        _refuse(func, kind, args, kwargs)
    if not operator.no_check:
        is_out = any(x.is_out for x in operands)
        generated(operator, operands, f"wrapper_{kind}CUDA_{operator.overload}_{operator.name}" + "_out" * is_out)
    if kernel in BY_KERNEL:
        return BY_KERNEL[kernel](operands)
    if any(x.is_written for x in operands):
        return tensor_iterator(operands)
    run(kind, func, args, kwargs, _call_below)  # it compares no devices; what else it refuses comes first
    return operands[0].device


def _refuse(func: Any, kind: str, args: Any, kwargs: Any) -> None:
    """Raise what the dispatcher says of an operator that has no kernel for this layout on CUDA."""
    func.redispatch(torch._C.DispatchKeySet(getattr(_KEYS, f"{kind}CUDA")), *args, **kwargs)


# What is kept of a nested tensor on the CPU, on CUDA too.
ON_CPU = tuple(
    getattr(torch.ops.aten, f"_nested_tensor_{name}").default for name in ("size", "strides", "storage_offsets")
)


# Of tensors that are all on one GPU: the kernels of the CPU compute, and what differs from CUDA's is here.


def run(kind: str, func: Any, args: Any, kwargs: Any, compute: Callable[..., Any]) -> Any:
    """Compute on the CPU, by `compute`, what CUDA computes; raise what CUDA's build raises."""
    namespace, _, signature = func.name().partition("::")
    operator = native_functions.operator(signature) if namespace == "aten" else None
    if operator is not None:
        kernel = operator.kernels.get(f"{kind}CUDA", _COMPOSED_OF.get((kind, signature)))
        if kernel is None and f"{kind}CPU" in operator.kernels:
            _refuse(func, kind, args, kwargs)
        if kernel in _NOT_IMPLEMENTED:
            raise RuntimeError(_NOT_IMPLEMENTED[kernel])
        if kernel in _ON_ONE_GPU:
            _ON_ONE_GPU[kernel](_tensors([*args, *kwargs.values()]))
        if kernel in _BROADCASTS and len(args) == 2 and not kwargs and _is_nested_with_dense(args):
            return _broadcast_rows(*_BROADCASTS[kernel], *args)
    try:
        result = compute(func._op, (), args, kwargs)
        if operator is not None and kernel in _CONCATENATE:
            _uncoalesce(result, *_tensors(args))
        return result
    except RuntimeError as error:
        raise reworded(error, _tensors(args)) from None


# native/sparse/cuda/SparseCUDATensorMath.cu, add_out_sparse_cuda, puts the elements of both one behind the other.
_CONCATENATE = ("add_sparse", "add_sparse_", "add_out_sparse_cuda", "sub_sparse", "sub_sparse_", "sub_out_sparse")


def _uncoalesce(result: torch.Tensor, *terms: torch.Tensor) -> None:
    with torch._C._DisableTorchDispatch():
        if result.is_sparse and result._nnz() > 1 and all(term.is_sparse and term._nnz() for term in terms):
            result._coalesced_(False)


# What kernels of the CPU say, and those of CUDA in the same place.
_WORDS = (
    ("SparseCsrCPU", "SparseCsrCUDA"),
    ("sparse_binary_op_intersection_cpu", "sparse_binary_op_intersection_cuda"),
    ("op2-sparse addition", "dense-sparse addition"),
    ("computation on CPU is not implemented", "computation on CUDA is not implemented"),
    ("expected sizes of 'self' and 'other' to match, but", "expected 'self' and 'other' to have same size, but"),
)


def reworded(error: RuntimeError, tensors: Sequence[torch.Tensor] = ()) -> RuntimeError:
    """The error as it comes from a kernel of the CPU, or another with CUDA's words."""
    text = _in_words_of_cuda(str(error), tensors)
    return error if text == str(error) else type(error)(text)


def missing(error: NotImplementedError, func: Any) -> RuntimeError:
    """The error for dense tensors and an operator that the CPU does not have, reworded if CUDA has it not either."""
    operator = native_functions.operator(func.name().removeprefix("aten::"))
    is_there = operator is not None and operator.has_cuda_kernel and "'QuantizedCPU' backend" not in str(error)
    return error if is_there else reworded(error)


def _in_words_of_cuda(text: str, tensors: Sequence[torch.Tensor]) -> str:
    text = re.sub(r"(from the '\w*)CPU(' backend)", r"\1CUDA\2", text)
    for of_cpu, of_cuda in _WORDS:
        text = text.replace(of_cpu, of_cuda)
    copy = re.fullmatch(r"(copy_\(\) between dense .* self type = torch\.)(.* and src type = torch\.)(.*)", text)
    if copy and tensors:  # native/Copy.cpp
        first, second = ("cuda." * (device_of(tensor) is not CPU) for tensor in tensors[:2])
        text = f"{copy[1]}{first}{copy[2]}{second}{copy[3]}"
    return text


def _tensors(args: Any) -> list[torch.Tensor]:
    return [x for x in args if isinstance(x, torch.Tensor)]


# Of operators without a kernel of their own, the kernel that they come to.
_COMPOSED_OF = {(_SPARSE, "rsub.Scalar"): "rsub", (_SPARSE, "_sparse_addmm"): "addmm_sparse_dense_cuda"}

_NOT_IMPLEMENTED = {
    "rsub": "add: expected 'self' to be a CUDA tensor, but got a CPU tensor",  # a number is a tensor of the CPU
    "_sspaddmm_out_cuda": "NYI: CUDA sspaddmm is not implemented",
    # native/sparse/cuda/SparseCsrTensorMath.cu: PyTorch's wheels are built without cuDSS.
    "_sparse_csr_linear_solve": "Calling linear solver with sparse tensors requires compiling PyTorch with CUDA cuDSS "
    "and is not supported in ROCm build.",
}


_DENSE_ON_CPU = (
    'dense.is_cuda() INTERNAL ASSERT FAILED at "/__w/pytorch/pytorch/aten/src/ATen/native/sparse/cuda/'
    'SparseCsrTensorMath.cu":148, please report a bug to PyTorch. '
)


def _add_rows(tensors: list[torch.Tensor]) -> None:
    """native/sparse/cuda/SparseCsrTensorMath.cu, add_out_sparse_csr: cuSPARSE adds by row, without blocks."""
    if len(tensors) < 2:  # and a number, which is a tensor of the CPU
        raise RuntimeError(_DENSE_ON_CPU)
    first = tensors[0].layout
    if first in (torch.sparse_csc, torch.sparse_bsc) and tensors[1].layout is first:
        raise RuntimeError(f"crow_indices expected sparse row compressed tensor layout but got {name_of(first)}")
    if first is torch.sparse_bsr and tensors[1].layout is first:
        raise RuntimeError("sparse compressed layout must be SparseCsr but got SparseBsr")


def name_of(layout: torch.layout) -> str:
    """c10/core/Layout.h."""
    if layout is torch.strided:
        return "Strided"
    return "Sparse" + str(layout).removeprefix("torch.sparse_").removeprefix("coo").capitalize()


def _sparse_first(tensors: list[torch.Tensor]) -> None:
    """native/sparse/cuda/SparseCUDATensorMath.cu, s_addmm_out_sparse_dense_cuda."""
    if tensors[0].layout is torch.sparse_coo:
        _refuse(torch.ops.aten.resize_.default, _SPARSE, (tensors[0], tensors[0].shape), {})
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
    """Of mm, where the result comes last."""
    first, second, out = tensors
    _sparse_result([out, first, second])


# Kernels that refuse on CUDA what they compute on the CPU, or in other words.
_ON_ONE_GPU: dict[Any, Callable[[list[torch.Tensor]], None]] = {
    "add_sparse_csr": _add_rows,
    "_sparse_csr_mm_out": _sparse_out,
    "addmm_sparse_compressed_dense": _sparse_result,
    "addmm_sparse_dense_cuda": _sparse_first,
    "s_addmm_sparse_dense_cuda_": _sparse_first,
}


# native/nested/NestedTensorBinaryOps.cpp: on CUDA, some dense tensors broadcast over a nested one.
_BROADCASTS: dict[Any, tuple[Any, str]] = {
    "NestedTensor_add_Tensor": (torch.add, "add"),
    "NestedTensor_div_Tensor": (torch.div, "div"),
    "NestedTensor_mul_Tensor": (torch.mul, "mul"),
    "NestedTensor_sub_Tensor": (torch.sub, "sub"),
}


def _is_nested_with_dense(args: Any) -> bool:
    first, second = args
    return first.is_nested and isinstance(second, torch.Tensor) and not second.is_nested and second.dim() > 0


def _broadcast_rows(function: Any, name: str, nested: torch.Tensor, dense: torch.Tensor) -> torch.Tensor:
    with torch._C._DisableTorchDispatch():
        rows = nested.unbind()
        dims = nested.dim(), dense.dim()
        if dims == (4, 3) and dense.shape[1:] == (1, 1) and all(len(row) == len(dense) for row in rows):
            return torch._nested_tensor_from_tensor_list([function(row, dense) for row in rows])
        last = {row.shape[-1] for row in rows} if dims == (3, 3) else {1}
        if dims not in ((2, 2), (3, 3)) or dense.shape[:2] != (len(rows), 1) or last != {dense.shape[-1]}:
            _not_both_nested(name)
        if name in ("sub", "div"):
            raise RuntimeError(f"Unsupported nested dense elementwise op: {name}.")
        pairs = zip(rows, dense, strict=True)
        return torch._nested_tensor_from_tensor_list([function(row, other) for row, other in pairs])


def _not_both_nested(name: str = "") -> NoReturn:
    raise RuntimeError(
        "Expected both self and other to be nested, but got a nested self and non-nested other"
        + (f" for op: {name}." if name else "")
    )


# Of tensors on several devices.


def _on_gpus(operands: Sequence[Any], text: str, *names: str) -> None:
    """The checks that CUDA's kernels for sparse tensors begin with: they name the first operand on the CPU."""
    for name in names:
        operand = named(operands, name)
        if operand is not None and operand.device is CPU:
            raise RuntimeError(text.format(name=name))


def _on_one_gpu(operands: Sequence[Any], order: str) -> torch.device:
    """aten/src/ATen/native/cuda/CUDAUtils.h, check_device."""
    if len({operand.device for operand in operands}) > 1:
        not_equal(f"cuda::check_device({{{order}}})")
    device: torch.device = operands[0].device
    return device


def _is_sparse(operand: Any) -> bool:
    return operand.tensor.layout is not torch.strided


def _pair(operands: Sequence[Any]) -> tuple[Any, Any]:
    return named(operands, "self"), named(operands, "other")


def _with_result(operands: Sequence[Any], at: Any) -> list[Any]:
    """The operands with a result, which the kernel makes where `at` is, unless out= or the first operand is it."""
    if any(x.is_out for x in operands):
        return list(operands)
    self = named(operands, "self")
    return [(self if self.is_written else at)._replace(name="out", is_out=True), *operands]


def _add(operands: Sequence[Any]) -> torch.device:
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


def _add_compressed(operands: Sequence[Any]) -> torch.device:
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
        _add_rows([self.tensor, other.tensor])
        return tensor_iterator(operands)
    if dense.device is CPU:
        raise RuntimeError(_DENSE_ON_CPU)
    if sparse.device is CPU:
        raise RuntimeError("add: expected 'other' to be a CUDA tensor, but got tensor on device: cpu")
    device: torch.device = dense.device  # two GPUs are not compared
    return device


def _multiply(operands: Sequence[Any]) -> torch.device:
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


def _multiply_compressed(operands: Sequence[Any]) -> torch.device:
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


def _divide(function: str, operands: Sequence[Any]) -> torch.device:
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


def _copy(operands: Sequence[Any]) -> torch.device:
    """native/Copy.cpp: from anywhere, but not from another layout."""
    device: torch.device = operands[0].device
    return device


def _check_sizes(matrix: torch.Tensor, vector: torch.Tensor, term: torch.Tensor | None) -> None:
    """native/Blas.cpp, addmv's meta function."""
    ranks = 1 if term is None else term.dim(), matrix.dim(), vector.dim()
    if ranks[0] > 1 or ranks[1:] != (2, 1):
        raise RuntimeError("vector + matrix @ vector expected, got {}, {}, {}".format(*ranks))
    rows, columns = matrix.shape
    first = rows if term is None else term.numel()
    if columns != len(vector) or first not in (1, rows):
        raise RuntimeError(f"size mismatch, got input ({first}), mat ({rows}x{columns}), vec ({len(vector)})")


def _matrix_and_vector(operands: Sequence[Any]) -> NoReturn:
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


def _triangular_solve(operands: Sequence[Any]) -> torch.device | None:
    """native/LinearAlgebraUtils.h, linearSolveCheckInputs."""
    right, matrix = operands[-2:]
    if right.device != matrix.device:
        raise RuntimeError(
            f"Expected b and A to be on the same device, but found b on {right.device} and A on {matrix.device} "
            "instead."
        )
    return None


# Operators that PyTorch composes for a compressed matrix, of a function that writes into a new tensor.
_COMPOSED_OF_COMPRESSED: dict[str, Callable[[Sequence[Any]], Any]] = {
    "addmv": _matrix_and_vector,
    "mv": _matrix_and_vector,
    "triangular_solve": _triangular_solve,
}


def _nested_pair(name: str, operands: Sequence[Any]) -> torch.device:
    """native/nested/NestedTensorBinaryOps.cpp, NestedTensor_elementwise_Tensor: the buffers, or one and a scalar."""
    self, other = _pair(operands)
    if not self.tensor.is_nested and self.tensor.dim():
        raise RuntimeError("Expected both self and other to be nested, but got a non-nested self and nested other")
    if not other.tensor.is_nested and other.tensor.dim():
        if CPU in (self.device, other.device) or self.is_written:
            _not_both_nested()
        _broadcast_rows(*_BROADCASTS[f"NestedTensor_{name}_Tensor"], self.tensor, other.tensor)
        home: torch.device = self.device  # two GPUs are not compared
        return home
    return tensor_iterator(operands)


def _nested_mask(operands: Sequence[Any]) -> torch.device:
    """native/nested/NestedTensorMath.cpp, NestedTensor_masked_fill."""
    self, mask = named(operands, "self"), named(operands, "mask")
    if self.device != mask.device:
        raise RuntimeError(
            f"expected self and mask to be on the same device, but got mask on {mask.device} and self on {self.device}"
        )
    device: torch.device = self.device
    return device


BY_KERNEL: dict[str, Callable[[Sequence[Any]], Any]] = {
    "NestedTensor_masked_fill": _nested_mask,
    "add_out_sparse_compressed_cuda": _add_compressed,
    "add_out_sparse_cuda": _add,
    "add_sparse": _add,
    "add_sparse_": _add,
    "add_sparse_csr": _add_compressed,
    "add_sparse_csr_": _add_compressed,
    "copy_nested_": _copy,
    "copy_sparse_compressed_": _copy,
    "copy_sparse_wrapper_": _copy,
    "fill_nested_": _copy,
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
    **{f"NestedTensor_{name}_Tensor": functools.partial(_nested_pair, name) for name in ("add", "sub", "mul", "div")},
    **{f"NestedTensor_{name}__Tensor": functools.partial(_nested_pair, name) for name in ("add", "mul")},
}
