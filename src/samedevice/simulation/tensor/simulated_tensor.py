"""A tensor on a simulated GPU: a CPU tensor that says, and acts as if, it were on cuda:N.

Its memory, strides, version counter and autograd history are a real CPU tensor's, so values, views and in-place ops are
PyTorch's own. Two things are added: the device it claims (`_samedevice_device`) and the Python dispatch key, through
which every operator below autograd comes to dispatch.py first. There the devices of all arguments are compared; where
they differ, judgement.judge decides as PyTorch's CUDA build would. Its C++ device stays the CPU: with a CUDA device
autograd ends the process on a CPU build.
"""

import functools
import operator
import textwrap
from collections import OrderedDict
from typing import Any, NoReturn

import torch

from samedevice.simulation import stand_ins, state
from samedevice.simulation.device import dispatch_modes, sync_debug
from samedevice.simulation.device.devices import CPU
from samedevice.simulation.rules import errors, judgement, layout_kinds
from samedevice.simulation.stand_ins import modes_are_asked
from samedevice.simulation.tensor import at_once, classes, dispatch, reshaping
from samedevice.simulation.tensor.told_to_modes import told, told_getter, told_without_class
from samedevice.simulation.tensor.wrapping import below, unwrap, wrap

_requires_grad = torch.Tensor.requires_grad
_device, _is_cuda, _is_cpu = (told_getter(name) for name in ("device", "is_cuda", "is_cpu"))


class SimulatedTensor(torch.Tensor):
    """A tensor on a simulated GPU, made by the simulation's factories and moves, never by hand.

    No tensor is of this very class: it is what their classes have in common, and so it tells them from all others. See
    Note [Twins].
    """

    _samedevice_device: torch.device

    # Read by C alone, as it is read where `isinstance` finds no other reason.
    __class__ = property(operator.attrgetter("original"), classes.set_class)

    __torch_function__ = torch._C._disabled_torch_function_impl

    __torch_dispatch__ = classmethod(dispatch.dispatch)

    reshape, reshape_as, flatten = reshaping.reshape, reshaping.reshape_as, reshaping.flatten

    # What Python asks of a tensor directly, without an operator. These are read often: each asks for modes itself.

    def _get_device(self) -> torch.device:
        return _device(self) if modes_are_asked() else self._samedevice_device

    def _get_is_cuda(self) -> bool:
        return _is_cuda(self) if modes_are_asked() else self._samedevice_device is not CPU

    def _get_is_cpu(self) -> bool:
        return _is_cpu(self) if modes_are_asked() else self._samedevice_device is CPU

    # To write or delete them, PyTorch's own refuses in its words.
    device: Any = property(_get_device, torch.Tensor.device.__set__, torch.Tensor.device.__delete__)
    is_cuda: Any = property(_get_is_cuda, torch.Tensor.is_cuda.__set__, torch.Tensor.is_cuda.__delete__)
    is_cpu: Any = property(_get_is_cpu, torch.Tensor.is_cpu.__set__, torch.Tensor.is_cpu.__delete__)

    @told
    def get_device(self) -> int:
        return -1 if self._samedevice_device is CPU else self._samedevice_device.index

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        if requires_grad and state.now.met.nested:
            dispatch.refuse_gradients_of_nested([self])
        return super().requires_grad_(requires_grad)

    def _set_requires_grad(self, value: bool) -> None:
        if value and state.now.met.nested:
            dispatch.refuse_gradients_of_nested([self])
        _requires_grad.__set__(self, value)

    # Read by C alone, as it is read at every step.
    requires_grad = property(_requires_grad.__get__, _set_requires_grad)

    @told
    def untyped_storage(self) -> torch.UntypedStorage:
        storage = super().untyped_storage()
        storage._samedevice_device = self._samedevice_device
        return storage

    @told
    def tolist(self) -> Any:
        if classes.dispatches_itself(type(self)):
            return super().tolist()  # PyTorch refuses this
        if self.layout is not torch.strided:
            raise RuntimeError(  # native/TensorConversions.cpp, to
                "to(options) doesn't support converting to a different layout, but got self.layout being "
                f"{layout_kinds.name_of(self.layout)} and options.layout set as Strided"
            )
        if dispatch_modes.now():  # torch/csrc/utils/tensor_list.cpp copies to the CPU first
            with torch.no_grad():
                return self.cpu().tolist()
        sync_debug.copies(self, CPU, False)
        return unwrap(self).tolist()

    @told_without_class
    def numpy(self, *, force: bool = False) -> Any:
        if classes.dispatches_itself(type(self)):
            return super().numpy(force=force)  # PyTorch refuses this
        if self.layout is not torch.strided:
            return unwrap(self).numpy()  # PyTorch refuses this
        if force:
            if not dispatch_modes.now():
                sync_debug.copies(self, CPU, False)
            copied = self.detach().cpu() if dispatch_modes.now() else unwrap(self).clone()
            with below():
                return copied.resolve_conj().resolve_neg().numpy()
        # torch/csrc/utils/tensor_numpy.cpp
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy. "
            "Use Tensor.cpu() to copy the tensor to host memory first."
        )

    @told
    def apply_(self, callable: Any) -> NoReturn:
        raise TypeError("apply_ is only implemented on CPU tensors")  # torch/csrc/utils/tensor_apply.cpp

    @told
    def map_(self, other: Any, callable: Any) -> NoReturn:
        if other.type() != self.type():
            expected, given = (errors.type_in_errors(x.type()) for x in (self, other))
            raise TypeError(f"map_: expected {expected} for 'other' (got {given})")
        raise TypeError("map_ is only implemented on CPU tensors")

    @told
    def map2_(self, x: Any, y: Any, callable: Any) -> NoReturn:
        for name, other in (("x", x), ("y", y)):
            if other.type() != self.type():
                expected, given = (errors.type_in_errors(tensor.type()) for tensor in (self, other))
                raise TypeError(f"map2_: expected {expected} for argument '{name}' (got {given})")
        raise TypeError("map2_ is only implemented on CPU tensors")

    @told_without_class
    def record_stream(self, stream: Any) -> None:
        """Nothing is asynchronous here, so no memory can be reused too early."""
        if not isinstance(stream, torch.Stream):
            raise RuntimeError("unknown parameter type")  # torch/csrc/utils/python_arg_parser.h
        if classes.dispatches_itself(type(self)) or self.is_nested or self.layout is not torch.strided:
            super().record_stream(stream)  # its class is asked, or PyTorch refuses this

    @told
    def __format__(self, spec: str) -> str:
        plain = type(self) is classes.simulated
        return format(self.item(), spec) if plain and self.dim() == 0 else object.__format__(self, spec)

    # PyTorch's own two, in Python, tell a mode of themselves; what is asked before is no call of the program's.

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        if type(self) is classes.twin_of(torch.nn.Parameter):
            return "Parameter containing:\n" + repr(wrap(self, self.device).requires_grad_(self.requires_grad))
        with torch._C.DisableTorchFunction():
            is_nested = self.is_nested
        if is_nested and tensor_contents is None:
            rows = [wrap(row, self.device) for row in unwrap(self).unbind()]
            tensor_contents = "[\n" + ",\n".join(textwrap.indent(repr(row), "  ") for row in rows) + "\n]"
        failed = None
        with below():  # afterwards, too, a tensor can be looked at
            try:
                text = super().__repr__(tensor_contents=tensor_contents) if tensor_contents else super().__repr__()
            except BaseException as error:
                # torch._tensor_str holds a guard in its frame, which puts back what was below, whenever it goes.
                failed = error.with_traceback(None)
        if failed is not None:
            raise failed
        # torch prints the class's name for a subclass; "Tensor(" and "tensor(" are equally long, so columns stay.
        unnamed = type(self) is classes.simulated and text.startswith("Tensor(")
        return "tensor(" + text.removeprefix("Tensor(") if unnamed else text

    # What a file holds, and what a copy is made of, is a CUDA tensor: whoever loads it needs torch, not this class.

    def __getstate__(self) -> Any:
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_samedevice_")}

    def __reduce_ex__(self, proto: Any) -> Any:
        reduced: Any = super().__reduce_ex__(proto)
        if isinstance(reduced[0], classes.Twin):
            return classes.original_of(reduced[0]), *reduced[1:]
        if reduced[0] is torch._tensor._rebuild_from_type_v2:
            rebuild, kind, arguments, state = reduced[1]
            if rebuild is torch._utils._rebuild_wrapper_subclass:  # so torch stores what has no memory: here, no bytes
                storage = torch.TypedStorage(wrap_storage=self.untyped_storage(), dtype=self.dtype, _internal=True)
                where = self.storage_offset(), tuple(self.size()), self.stride()
                rebuild = torch._utils._rebuild_tensor_v2
                arguments = storage, *where, self.requires_grad, OrderedDict()
            if type(self) is classes.simulated and not state:
                return rebuild, arguments
            return reduced[0], (rebuild, classes.original_of(kind), arguments, state)
        return reduced

    def __deepcopy__(self, memo: Any) -> Any:
        with torch._C.DisableTorchFunction():
            if self.layout not in (torch.strided, torch.sparse_coo):
                self.untyped_storage()  # PyTorch refuses this
        copied = super().__deepcopy__(memo)
        copied._samedevice_device = self._samedevice_device  # the object itself: devices are compared with `is`
        return copied


class PassedOn(SimulatedTensor):
    """What a class that dispatches operators itself passes on by `super().__torch_dispatch__`. See Note [Twins]."""

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        on_cuda = state.now.kernels_of_cuda.get(func.name())
        if on_cuda is not None:
            tensors = list(judgement.tensors_of(args, kwargs))
            keys = functools.reduce(operator.or_, map(torch._C._dispatch_keys, tensors))
            result = on_cuda(keys, tensors, args, kwargs or {})
            if result is not NotImplemented:
                return result
        return dispatch.dispatch(cls, func, (), args, kwargs)  # without the classes that were asked already


classes.register(SimulatedTensor, PassedOn)
stand_ins.register(classes.simulated)
for _name in ("item", "__float__", "__int__", "__bool__"):  # of no other twin: a class of a program may have its own
    type.__setattr__(classes.simulated, _name, at_once.reading(_name))
