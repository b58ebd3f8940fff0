"""A tensor on a simulated GPU: a CPU tensor that says, and acts as if, it were on cuda:N.

Its memory, strides, version counter and autograd history are a real CPU tensor's, so values, views and in-place ops are
PyTorch's own. Two things are added: the device it claims (`_samedevice_device`) and the Python dispatch key, through
which every operator below autograd comes here first. There the devices of all arguments are compared; where they
differ, placement.judge decides as PyTorch's CUDA build would. Its C++ device stays the CPU: with a CUDA device autograd
ends the process on a CPU build.
"""

from collections import OrderedDict
from typing import Any, NoReturn

import torch

from samedevice.simulation import placement, randomness
from samedevice.simulation.devices import CPU, device_of

_below = torch._C._DisableTorchDispatch
_make_subclass = torch.Tensor._make_subclass


class SimulatedTensor(torch.Tensor):
    """A tensor on a simulated GPU, made by the simulation's factories and moves, never by hand."""

    _samedevice_device: torch.device

    def __new__(cls, data: Any, requires_grad: bool = True) -> Any:
        """`type(parameter)(data, requires_grad=...)`: libraries make a parameter so, from one that a module has."""
        return torch.nn.Parameter(data, requires_grad)

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        device = _shared_device(args, kwargs)
        if device is None:
            device = placement.judge(func, args, kwargs or {})
            if device in placement.COMPOSED:
                return _compose(func, device, args, kwargs or {})
        if getattr(func, "_nondeterministic_seeded", False):  # operators of custom classes have no tags
            randomness.check_generator((kwargs or {}).get("generator"), device)
            with randomness.of(device):
                return _run(func, args, kwargs, device)
        return _run(func, args, kwargs, device)

    # What Python asks of a tensor directly, without an operator.

    @property
    def device(self) -> torch.device:
        return self._samedevice_device

    @property
    def is_cuda(self) -> bool:
        return True

    @property
    def is_cpu(self) -> bool:
        return False

    def get_device(self) -> int:
        return self._samedevice_device.index

    def untyped_storage(self) -> torch.UntypedStorage:
        storage = super().untyped_storage()
        storage._samedevice_device = self._samedevice_device
        return storage

    def tolist(self) -> Any:
        return unmark(self).tolist()

    def numpy(self, *, force: bool = False) -> Any:
        if force:
            return unmark(self).resolve_conj().resolve_neg().numpy()
        # torch/csrc/utils/tensor_numpy.cpp
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy. "
            "Use Tensor.cpu() to copy the tensor to host memory first."
        )

    def record_stream(self, stream: Any) -> None:
        """Nothing is asynchronous here, so no memory can be reused too early."""

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if self.dim() == 0 else object.__format__(self, spec)

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        # torch prints the class's name for a subclass; "Tensor(" and "tensor(" are equally long, so columns stay.
        text: str = torch._tensor_str._str(self, tensor_contents=tensor_contents)
        if isinstance(self, torch.nn.Parameter):
            return "Parameter containing:\ntensor(" + text.removeprefix("Parameter(Tensor(").removesuffix(")")
        return "tensor(" + text.removeprefix("Tensor(")

    def __reduce_ex__(self, proto: Any) -> Any:
        # What a file holds is a CUDA tensor: whoever loads it needs torch, not this class.
        if isinstance(self, torch.nn.Parameter):
            return torch._utils._rebuild_parameter, (mark(self, self.device), self.requires_grad, OrderedDict())
        return self._reduce_ex_internal(proto)


SimulatedTensor.__name__ = "Tensor"


def _run(func: Any, args: Any, kwargs: Any, device: torch.device) -> Any:
    """Compute on the CPU, below the Python key; what is new lives on `device`."""
    with _below():
        result = func._op(*args, **kwargs) if kwargs else func._op(*args)
        if device is CPU:
            return result
        if type(result) is torch.Tensor:
            return mark(result, device)
        if type(result) in (tuple, list):
            return type(result)(mark(x, device) if type(x) is torch.Tensor else x for x in result)
    return result


def _compose(func: Any, key: Any, args: Any, kwargs: Any) -> Any:
    """Run an operator as PyTorch composes it of others; they come here in their turn."""
    home = device_of(next(placement.tensors_of(args, kwargs)))  # C++ makes a result where the first argument is
    result = func._op_dk(key, *args, **kwargs)
    if type(result) is torch.Tensor and home is not CPU and not any(result is x for x in args):
        with _below():
            return mark(result, home)
    return result


def mark(tensor: torch.Tensor, device: torch.device) -> SimulatedTensor:
    """The same memory as `tensor`, detached, on a simulated GPU."""
    if tensor.layout is not torch.strided:
        refuse(tensor.layout)
    marked: SimulatedTensor = _make_subclass(SimulatedTensor, tensor)
    marked._samedevice_device = device
    return marked


def refuse(layout: Any) -> NoReturn:
    raise NotImplementedError(f"samedevice simulates strided tensors on a GPU, not {layout}: keep this one on the CPU")


def unmark(tensor: torch.Tensor) -> torch.Tensor:
    """The same memory as `tensor`, detached, as the plain CPU tensor that it is."""
    with _below():
        return tensor.detach()


def _shared_device(args: Any, kwargs: Any) -> torch.device | None:
    """The device of all tensors among the arguments; None where they differ. The hot path: no recursion, no pytree."""
    shared = None
    for tensor in placement.tensors_of(args, kwargs):
        device = tensor._samedevice_device if type(tensor) is SimulatedTensor else CPU
        if shared is None:
            shared = device
        elif device is not shared:
            return None
    return shared
