"""The kinds of dtypes, what PyTorch calls each dtype, and what it says where two of them have to be one."""

import torch

from samedevice.simulation.rules.errors import type_in_errors

# The groups of the macros by which kernels choose their code (ATen/Dispatch.h, Dispatch_v2.h), and what they add up to.
BOOL = frozenset({torch.bool})
INTEGERS = frozenset({torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64})
FLOATING = frozenset({torch.float32, torch.float64})
HALVES = frozenset({torch.float16, torch.bfloat16})
COMPLEX = frozenset({torch.complex64, torch.complex128})
COMPLEX32 = frozenset({torch.complex32})
UNSIGNED = frozenset({torch.uint16, torch.uint32, torch.uint64})  # AT_BAREBONES_UNSIGNED_TYPES
FLOAT8 = frozenset({torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz})

USUAL = BOOL | INTEGERS | FLOATING | HALVES | COMPLEX
REAL = FLOATING | HALVES
NUMBERS = INTEGERS | REAL
ORDERED = NUMBERS | BOOL
ANY = USUAL | COMPLEX32 | UNSIGNED | FLOAT8
AS_FLOATING = BOOL | INTEGERS | UNSIGNED  # what is converted to floating-point numbers first

# c10/core/ScalarType.h prints a dtype by its name in C++.
NAMES_IN_CPP = {
    torch.bool: "bool", torch.uint8: "unsigned char", torch.int8: "signed char", torch.int16: "short int",
    torch.int32: "int", torch.int64: "long int", torch.float16: "c10::Half", torch.bfloat16: "c10::BFloat16",
    torch.float32: "float", torch.float64: "double", torch.complex64: "c10::complex<float>",
    torch.complex128: "c10::complex<double>", torch.complex32: "c10::complex<c10::Half>",
    torch.float8_e4m3fn: "c10::Float8_e4m3fn", torch.float8_e5m2: "c10::Float8_e5m2",
}  # fmt: skip

# c10/core/ScalarType.h, toString: a dtype by its name in messages.
NAMES = {
    torch.bool: "Bool", torch.uint8: "Byte", torch.int8: "Char", torch.int16: "Short", torch.int32: "Int",
    torch.int64: "Long", torch.float16: "Half", torch.bfloat16: "BFloat16", torch.float32: "Float",
    torch.float64: "Double", torch.complex32: "ComplexHalf", torch.complex64: "ComplexFloat",
    torch.complex128: "ComplexDouble", torch.uint16: "UInt16", torch.uint32: "UInt32", torch.uint64: "UInt64",
    torch.float8_e4m3fn: "Float8_e4m3fn", torch.float8_e5m2: "Float8_e5m2",
    torch.float8_e4m3fnuz: "Float8_e4m3fnuz", torch.float8_e5m2fnuz: "Float8_e5m2fnuz",
    torch.float8_e8m0fnu: "Float8_e8m0fnu",
}  # fmt: skip


def name_of(tensor: torch.Tensor) -> str:
    """Float, of torch.cuda.FloatTensor."""
    return tensor.type().rpartition(".")[2].removesuffix("Tensor")


def expect_one(mat1: torch.Tensor, mat2: torch.Tensor) -> None:
    """native/cuda/Blas.cpp, addmm_out_cuda_impl."""
    if mat1.dtype is not mat2.dtype:
        raise RuntimeError(of_two_dtypes(mat1, mat2))


def of_two_dtypes(mat1: torch.Tensor, mat2: torch.Tensor) -> str:
    names = [NAMES_IN_CPP.get(x.dtype, name_of(x)) for x in (mat1, mat2)]
    return f"expected mat1 and mat2 to have the same dtype, but got: {names[0]} != {names[1]}"


def expected_scalar_type(inputs: torch.Tensor, result: torch.Tensor) -> None:
    """native/ReduceOpsUtils.h, check_scalar_type_device_layout_equal: the dtype before the device."""
    if inputs.dtype is not result.dtype:
        raise RuntimeError(f"expected scalar_type {name_of(inputs)} but found {name_of(result)}")


def types_differ(inputs: torch.Tensor, name: str, other: torch.Tensor) -> str:
    types = type_in_errors(inputs.type()), type_in_errors(other.type())
    return f"Input type ({types[0]}) and {name} type ({types[1]}) should be the same"
