"""The texts of PyTorch's refusals that more than one check raises, each written once."""

from typing import NoReturn

import torch

from samedevice.simulation.device.devices import device_of


def found_two_devices(first: torch.device, second: torch.device) -> NoReturn:
    """aten/src/ATen/TensorIterator.cpp, compute_types."""
    raise RuntimeError(
        f"Expected all tensors to be on the same device, but found at least two devices, {first} and {second}!"
    )


def accuse(argument: str, device: torch.device, reference: torch.device, method: str) -> NoReturn:
    """aten/src/ATen/core/adaption.cpp: `argument` is on `device`, and not on `reference` as the first tensor is."""
    raise RuntimeError(
        f"Expected all tensors to be on the same device, but got {argument} is on {device}, "
        f"different from other tensors on {reference} (when checking argument in method {method})"
    )


# torch/csrc/Exceptions.cpp, processErrorMsg: these types are printed as Python writes them.
_WRITTEN_AS_IN_PYTHON = ("Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short")


def type_in_errors(name: str) -> str:
    """A type as C++ prints it in an error, from how Python writes it (`Tensor.type()`)."""
    *_, kind = name.split(".")
    kind = kind.removesuffix("Tensor")
    if kind in _WRITTEN_AS_IN_PYTHON:
        return name
    layout = "Sparse" if ".sparse." in name else ""
    return f"{layout}{'CUDA' if '.cuda.' in name else 'CPU'}{kind}Type"


def attention_on_several_devices(query: torch.device, key: torch.device, value: torch.device) -> NoReturn:
    """native/transformers/attention.cpp, validate_sdpa_input."""
    raise RuntimeError(
        "Expected query, key, and value to have the same device type, but got "
        f"query.device: {query} key.device: {key} and value.device: {value} instead."
    )


def compare(method: str, *operands: tuple[str, torch.Tensor | None]) -> None:
    """What `accuse` says, if one of these (name, tensor) is not where the first is; the order is the schema's."""
    present = [(name, device_of(tensor)) for name, tensor in operands if tensor is not None]
    if any(device.type == "meta" for _, device in present):
        return  # never reaches a CUDA kernel
    for name, device in present:
        if device != present[0][1]:
            accuse(name, device, present[0][1], method)


def out_tensor(device: torch.device, out: torch.device) -> None:
    """torchgen's resize_out and copy_arg: out= must be where the result is made."""
    if out != device:
        raise RuntimeError(f"Expected out tensor to have device {device}, but got {out} instead")


def not_a_gpu(device: torch.device) -> NoReturn:
    """c10/cuda/impl/CUDAGuardImpl.h: a kernel of CUDA makes its result on another kind of device."""
    raise RuntimeError(f"CUDAGuardImpl initialized with non-CUDA DeviceType: {device.type}")


def expected_device(device: torch.device, found: torch.device) -> None:
    """native/ReduceOpsUtils.h, check_scalar_type_device_layout_equal."""
    if found != device:
        raise RuntimeError(f"expected device {device} but found {found}")


def same_device(function: str, result: torch.device, inputs: torch.device, name: str = "result") -> None:
    """native/LinearAlgebraUtils.h, checkSameDevice."""
    if result != inputs:
        raise RuntimeError(
            f"{function}: Expected {name} and input tensors to be on the same device, "
            f"but got {name} on {result} and input on {inputs}"
        )


def inference_tensor() -> NoReturn:
    """c10/core/TensorImpl.h, VariableVersion::bump."""
    raise RuntimeError(
        "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal "
        "tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
    )
