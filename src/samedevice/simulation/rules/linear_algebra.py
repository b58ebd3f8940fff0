"""The device checks of PyTorch's linear algebra: native/LinearAlgebra.cpp and its neighbours.

Most of these functions compute a result where the input is and copy it into out=, which would accept any device: so
each compares first, with a text of its own. As in composite_checks.py and checks.py, one small function for each check:
kernels for what is composed above the dispatcher, BY_HAND for the operators that reach it.
"""

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from samedevice.simulation.calls import Arguments
from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.rules.composite_kernels import Kernel
from samedevice.simulation.rules.errors import accuse, compare, same_device
from samedevice.simulation.rules.native_functions import Operator
from samedevice.simulation.rules.tensor_iterator import Check, Operand
from samedevice.simulation.stand_ins import overridden

# Functions that call checkSameDevice(name, result, input), by the name they give; those of the second table call it
# with the two exchanged.
_RESULT_WITH_INPUT = {
    "matrix_power": ("linalg_matrix_power.out",),
    "tensorinv": ("linalg_tensorinv.out",),
    "tensorsolve": ("linalg_tensorsolve.out",),
    "linalg.cond": ("linalg_cond.out", "linalg_cond.p_str_out"),
    "linalg.pinv": ("linalg_pinv.out", "linalg_pinv.atol_rtol_float_out", "linalg_pinv.out_rcond_tensor"),
    "torch.linalg.matrix_rank": (
        "linalg_matrix_rank", "linalg_matrix_rank.tol_tensor", "linalg_matrix_rank.atol_rtol_tensor",
        "linalg_matrix_rank.out", "linalg_matrix_rank.out_tol_tensor", "linalg_matrix_rank.atol_rtol_tensor_out",
        "linalg_matrix_rank.atol_rtol_float_out",
    ),
}  # fmt: skip
_INPUT_WITH_RESULT = {
    "linalg.norm": ("linalg_norm.out", "linalg_norm.ord_str_out"),
    "linalg.matrix_norm": ("linalg_matrix_norm.out", "linalg_matrix_norm.str_ord_out"),
    "linalg.vecdot": ("linalg_vecdot.out",),
}


def replacements() -> Iterator[tuple[object, str, object]]:
    yield torch.linalg, "lstsq", _by_gels(torch.linalg.lstsq)


def kernels() -> Iterator[tuple[str, Kernel]]:
    """The kernels to put in front of composed operators: (operator, kernel)."""
    for table, check in ((_RESULT_WITH_INPUT, _result_with_input), (_INPUT_WITH_RESULT, _input_with_result)):
        for function, operators in table.items():
            for operator in operators:
                yield operator, functools.partial(check, function)
    for name in ("linalg_multi_dot", "linalg_multi_dot.out", "chain_matmul", "chain_matmul.out"):
        yield name, _multi_dot
    for name in ("inner", "inner.out"):
        yield name, _inner
    for name in ("linalg_svd", "linalg_svd.U", "linalg_svdvals", "linalg_svdvals.out"):
        yield name, _svd
    yield "matmul.out", _matmul_out
    yield "tensordot.out", _tensordot_out


def _result_with_input(function: str, compose: Kernel, inputs: Tensor, *args: Any, **kwargs: Any) -> Any:
    """The tolerances of matrix_rank are compared too, before out=."""
    tolerances = {"atol": args[0]} if args else {name: kwargs.get(name) for name in ("atol", "rtol")}
    for name, tensor in tolerances.items() if function == "torch.linalg.matrix_rank" else ():
        if isinstance(tensor, torch.Tensor):
            same_device(function, device_of(tensor), device_of(inputs), name)
    if "out" in kwargs:
        same_device(function, device_of(kwargs["out"]), device_of(inputs))
    return compose(inputs, *args, **kwargs)


def _input_with_result(function: str, compose: Kernel, inputs: Tensor, *args: Any, out: Tensor, **kwargs: Any) -> Any:
    same_device(function, device_of(inputs), device_of(out))
    return compose(inputs, *args, out=out, **kwargs)


def _svd(compose: Kernel, inputs: Tensor, *args: Any, driver: str | None = None, **kwargs: Any) -> Any:
    """native/cuda/linalg/BatchLinearAlgebraLib.cpp, svd_cusolver: the driver is cuSOLVER's choice of an algorithm."""
    if driver is None or device_of(inputs) is CPU:
        return compose(inputs, *args, **kwargs | ({} if driver is None else {"driver": driver}))
    if driver not in ("gesvd", "gesvdj", "gesvda"):
        raise RuntimeError(
            f"torch.linalg.svd: unknown svd driver {driver} in svd_cusolver computation. "
            "Check doc at https://pytorch.org/docs/stable/generated/torch.linalg.svd.html"
        )
    return compose(inputs, *args, **kwargs)


def _by_gels(original: Any) -> Any:
    """native/BatchLinearAlgebra.cpp, linalg_lstsq_out: CUDA has one driver."""

    @functools.wraps(original)
    def by_gels(*args: Any, **kwargs: Any) -> Any:
        inputs, driver = args[0] if args else kwargs.get("input", kwargs.get("A")), kwargs.get("driver")
        if driver in (None, "gels") or not isinstance(inputs, torch.Tensor) or overridden(inputs):
            return original(*args, **kwargs)
        if device_of(inputs) is CPU:
            return original(*args, **kwargs)
        original(*args, **kwargs | {"driver": "gelsd"})  # what else is wrong comes first
        raise RuntimeError("torch.linalg.lstsq: `driver` other than `gels` is not supported on CUDA")

    return by_gels


def _multi_dot(compose: Kernel, tensors: Any, **kwargs: Any) -> Any:
    """native/LinearAlgebra.cpp, multi_dot_impl."""
    first, out = device_of(tensors[0]), kwargs.get("out")
    for index, tensor in enumerate(tensors):
        if device_of(tensor) != first:
            raise RuntimeError(
                f"multi_dot(): all tensors must be on the same device but tensor 0 is on {first} "
                f"and tensor {index} on {device_of(tensor)}"
            )
    if out is not None and device_of(out) != first:
        raise RuntimeError(f"multi_dot(): expected out tensor to be on device {first} but got {device_of(out)}")
    return compose(tensors, **kwargs)


def _inner(compose: Kernel, first: Tensor, second: Tensor, **kwargs: Any) -> Any:
    """native/LinearAlgebra.cpp, inner: checkDeviceType, which looks at no index."""
    kind = device_of(first).type
    for tensor in (*kwargs.values(), second):
        if device_of(tensor).type != kind:
            raise RuntimeError(
                f"Expected tensor to have {kind} DeviceType, but got tensor with {device_of(tensor).type} DeviceType "
                "(while checking arguments for inner())"
            )
    return compose(first, second, **kwargs)


def _tensordot_out(compose: Kernel, first: Tensor, second: Tensor, *args: Any, out: Tensor) -> Any:
    """native/Linear.cpp, tensordot_out."""
    if not device_of(out) == device_of(first) == device_of(second):
        raise RuntimeError(
            "tensordot: Expected the output and input tensors to be on the same device, but got the output tensor on "
            f"{device_of(out)}, input tensor a on {device_of(first)}, and input tensor b on {device_of(second)}"
        )
    return compose(first, second, *args, out=out)


def _matmul_out(compose: Kernel, first: Tensor, second: Tensor, *, out: Tensor) -> Any:
    _check_matmul_out(first, second, out)
    return compose(first, second, out=out)


def _check_matmul_out(first: Tensor, second: Tensor, out: Tensor) -> None:
    """native/LinearAlgebra.cpp, _matmul_impl: which product it is by the dimensions; each compares in its own way."""
    dimensions = first.dim(), second.dim()
    if dimensions == (1, 1):
        _check_dot("dot", device_of(first), device_of(second), device_of(out))
    elif dimensions == (2, 1) or (second.dim() == 1 and first.dim() > 2 and _folds(first, second)):
        compare("wrapper_CUDA_addmv_out_out", ("out", out), ("mat", first), ("vec", second))
    elif max(dimensions) <= 2 or _folds(first, second):
        left, right = (first, second) if first.dim() >= second.dim() or max(dimensions) <= 2 else (second, first)
        compare("wrapper_CUDA_mm_out_out", ("out", out), ("self", left), ("mat2", right))
    else:
        compare("wrapper_CUDA_bmm_out_out", ("out", out), ("self", first), ("mat2", second))


def _folds(first: Tensor, second: Tensor) -> bool:
    """native/LinearAlgebra.cpp, should_fold: a batch of matrices times one matrix, as a product of two matrices."""
    larger, smaller = (first, second) if first.dim() >= second.dim() else (second.mT, first)
    if larger.dim() < 3 or smaller.dim() > 2 or first.dim() == 2:
        return False
    strides, shape = larger.stride()[:-1], larger.shape[:-1]
    return larger.numel() == 0 or all(strides[i] == strides[i + 1] * shape[i + 1] for i in range(len(strides) - 1))


def _check_dot(name: str, first: torch.device, second: torch.device, out: torch.device) -> None:
    """native/Blas.cpp, dot_out and vdot_out."""
    if not out == first == second:
        raise RuntimeError(
            f"{name}: Expected the output and input tensors to be on the same device, but got the output tensor on "
            f"{out}, the 'input' tensor on {first}, and the 'other' tensor on {second}"
        )


def _dot(operator: Operator, operands: Sequence[Operand], args: Arguments) -> None:
    if operands[0].is_out:
        out, first, second = operands
        _check_dot(operator.name, first.device, second.device, out.device)


def _mv(operator: Operator, operands: Sequence[Operand], args: Arguments) -> None:
    """native/Blas.cpp, mv: a result is made where the vector is, and addmv_ meets the generated check."""
    matrix, vector = operands[-2:]
    if operands[0].is_out:
        compare("wrapper_CUDA_addmv_out_out", *((x.name, x.tensor) for x in _named(operands, "out", "mat", "vec")))
    else:
        matrix.tensor.size(0)  # of the result; PyTorch refuses a single number
        accuse("mat", matrix.device, vector.device, "wrapper_CUDA_addmv_")


def _named(operands: Sequence[Operand], *names: str) -> list[Any]:
    return [operand._replace(name=name) for operand, name in zip(operands, names, strict=True)]


def _linear_out(operator: Operator, operands: Sequence[Operand], args: Arguments) -> None:
    """native/Linear.cpp, linear_out."""
    tensors = {operand.name: operand.tensor for operand in operands}
    if "out" not in tensors:
        return
    if "bias" in tensors and tensors["input"].dim() == 2:
        factors = ("mat1", tensors["input"]), ("mat2", tensors["weight"])
        compare("wrapper_CUDA_addmm_out_out", ("out", tensors["out"]), ("self", tensors["bias"]), *factors)
    else:
        _check_matmul_out(tensors["input"], tensors["weight"].t(), tensors["out"])


def _cholesky_solve(operator: Operator, operands: Sequence[Operand], args: Arguments) -> None:
    """native/BatchLinearAlgebra.cpp, cholesky_solve_out, and LinearAlgebraUtils.h, linearSolveCheckInputs."""
    inputs, factor = operands[-2:]
    for name, operand in (("b", inputs), ("u", factor)):
        if operand.tensor.dim() < 2:
            raise RuntimeError(
                f"{name} should have at least 2 dimensions, but has {operand.tensor.dim()} dimensions instead"
            )
    if operands[0].is_out:
        same_device("cholesky_solve", operands[0].device, inputs.device)
    if inputs.device != factor.device:
        raise RuntimeError(
            f"Expected b and A to be on the same device, but found b on {inputs.device} and A on {factor.device} "
            "instead."
        )


def _pinv(operator: Operator, operands: Sequence[Operand], args: Arguments) -> None:
    """native/LinearAlgebra.cpp, linalg_pinv_out: of tolerances that are tensors."""
    if operands[0].is_out:
        same_device("linalg.pinv", operands[0].device, operands[1].device)


def _lstsq(operator: Operator, operands: Sequence[Operand], args: Arguments) -> None:
    """native/BatchLinearAlgebra.cpp, linalg_lstsq: the results, made where the input is, meet the generated check."""
    if not operands[0].is_out:
        compare("wrapper_CUDA_out_linalg_lstsq_out", *((operand.name, operand.tensor) for operand in operands))


# Each returns None: what it lets through is judged by the general rules.
BY_HAND: dict[str, Check] = {
    "cholesky_solve": _cholesky_solve,
    "dot": _dot,
    "linalg_lstsq": _lstsq,
    "linalg_pinv": _pinv,
    "linear": _linear_out,
    "mv": _mv,
    "vdot": _dot,
}
