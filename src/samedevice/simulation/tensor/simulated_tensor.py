"""A tensor on a simulated GPU: a CPU tensor that says, and acts as if, it were on cuda:N.

Its memory, strides, version counter and autograd history are a real CPU tensor's, so values, views and in-place ops are
PyTorch's own. Two things are added: the device it claims (`_samedevice_device`) and the Python dispatch key, through
which every operator below autograd comes here first. There the devices of all arguments are compared; where they
differ, judgement.judge decides as PyTorch's CUDA build would. Its C++ device stays the CPU: with a CUDA device autograd
ends the process on a CPU build.
"""

import functools
import textwrap
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NoReturn

import torch

from samedevice.simulation import stand_ins, state
from samedevice.simulation.device import dispatch_modes, generators, memory, sync_debug
from samedevice.simulation.device.devices import CPU, device_of, in_forked_child, refuse_absent, resolve
from samedevice.simulation.rules import composite_kernels, dtypes, errors, judgement, kernel_names, layouts, made_inside
from samedevice.simulation.tensor import classes, dtensor, functorch, sparse

_below = torch._C._DisableTorchDispatch
_call_below = torch._C._disabled_torch_dispatch_impl  # the same for one call, and faster
_make_subclass = torch.Tensor._make_subclass
_in_inference_mode, _inference_mode = torch.is_inference_mode_enabled, torch._C._InferenceMode
_COMPOSED = torch._C.DispatchKey.CompositeImplicitAutograd

ABSENT: Any = object()  # put in place of an attribute of a class or module: it has none of its own

# PyTorch calls __torch_dispatch__ with every key above Python switched off, those that resolve conjugated and negated
# views included (c10/core/DispatchKey.h); a kernel that makes such views inside, like linalg.pinv's, then computes
# wrongly. Only complex tensors have them: once one was met, operators run with these keys on.
_with_keys = torch._C._ForceDispatchKeyGuard
_included = torch._C._dispatch_tls_local_include_set
_ABOVE_BUT_VIEWS = torch._C._dispatch_keyset_full() - torch._C._dispatch_keyset_full_after(torch._C.DispatchKey.Python)
for _key in ("Conjugate", "Negative", "ZeroTensor"):
    _ABOVE_BUT_VIEWS = _ABOVE_BUT_VIEWS - torch._C.DispatchKeySet(torch._C._dispatch_key_parse(_key))
_met_complex = False
_met_inference = False
_met_nested = False
_met_layouts = False  # whether any tensor was sparse or nested
NO_GRADIENTS_OF_NESTED = (
    "samedevice does not simulate gradients of nested tensors on a GPU: compute under torch.no_grad(), keep the nested "
    "tensor on the CPU, or pad its tensors to one shape"
)
_wrapped_any = False  # whether any was made in this process

_storage = torch.Tensor.untyped_storage
_requires_grad = torch.Tensor.requires_grad

# What still works when the simulation has ended: looking, and bringing back (`x.detach().cpu()`, `float(x)`).
_READING = (torch.ops.aten.detach.default, torch.ops.aten._local_scalar_dense.default)


class SimulatedTensor(torch.Tensor, metaclass=classes.Twin):
    """A tensor on a simulated GPU, made by the simulation's factories and moves, never by hand."""

    original = torch.Tensor
    _samedevice_device: torch.device

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if classes.met_jagged and any(classes.is_jagged(kind) for kind in types):
            return NotImplemented  # it computes with the tensors that it holds, which come here in their turn
        now = state.now
        if now.carried_out and func.namespace in now.carried_out:
            result = now.carried_out[func.namespace](func, args, kwargs)
            if result is not NotImplemented:
                return result
        device = _shared_device(args, kwargs)
        if device not in now.present:  # on several devices, or on a GPU that is no more
            _refuse_absent(func, args, kwargs)
            try:
                device = judgement.judge(func, args, kwargs or {})
            except RuntimeError as refusal:
                # Without the frames of who found it, which say nothing of the program.
                raise refusal.with_traceback(None) from None
            if device in judgement.COMPOSED:
                return _compose(func, device, args, kwargs or {})
        for observe in now.before_operators:
            observe(func, args, kwargs, device)
        if getattr(func, "_nondeterministic_seeded", False):  # operators of custom classes have no tags
            with generators.of(device, generators.passed(args, kwargs)):
                return run(func, args, kwargs, device)
        return run(func, args, kwargs, device)

    # What Python asks of a tensor directly, without an operator.

    @property
    def device(self) -> torch.device:
        return self._samedevice_device

    @property
    def is_cuda(self) -> bool:
        return self._samedevice_device is not CPU

    @property
    def is_cpu(self) -> bool:
        return self._samedevice_device is CPU

    def get_device(self) -> int:
        return -1 if self._samedevice_device is CPU else self._samedevice_device.index

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        if requires_grad and _met_nested:
            refuse_gradients_of_nested([self])
        return super().requires_grad_(requires_grad)

    def _set_requires_grad(self, value: bool) -> None:
        if value and _met_nested:
            refuse_gradients_of_nested([self])
        _requires_grad.__set__(self, value)

    # Read by C alone, as it is read at every step.
    requires_grad = property(_requires_grad.__get__, _set_requires_grad)

    def untyped_storage(self) -> torch.UntypedStorage:
        storage = super().untyped_storage()
        storage._samedevice_device = self._samedevice_device
        return storage

    def tolist(self) -> Any:
        if self.layout is not torch.strided:
            raise RuntimeError(  # native/TensorConversions.cpp, to
                "to(options) doesn't support converting to a different layout, but got self.layout being "
                f"{layouts.name_of(self.layout)} and options.layout set as Strided"
            )
        if dispatch_modes.now():  # torch/csrc/utils/tensor_list.cpp copies to the CPU first
            with torch.no_grad():
                return self.cpu().tolist()
        sync_debug.copies(self, CPU, False)
        return unwrap(self).tolist()

    def numpy(self, *, force: bool = False) -> Any:
        if self.layout is not torch.strided:
            return unwrap(self).numpy()  # refused, by PyTorch
        if force:
            if not dispatch_modes.now():
                sync_debug.copies(self, CPU, False)
            copied = self.detach().cpu() if dispatch_modes.now() else unwrap(self)
            with _below():
                return copied.resolve_conj().resolve_neg().numpy()
        # torch/csrc/utils/tensor_numpy.cpp
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy. "
            "Use Tensor.cpu() to copy the tensor to host memory first."
        )

    def apply_(self, callable: Any) -> NoReturn:
        raise TypeError("apply_ is only implemented on CPU tensors")  # torch/csrc/utils/tensor_apply.cpp

    def map_(self, other: Any, callable: Any) -> NoReturn:
        if other.type() != self.type():
            expected, given = (errors.type_in_errors(x.type()) for x in (self, other))
            raise TypeError(f"map_: expected {expected} for 'other' (got {given})")
        raise TypeError("map_ is only implemented on CPU tensors")

    def map2_(self, x: Any, y: Any, callable: Any) -> NoReturn:
        for name, other in (("x", x), ("y", y)):
            if other.type() != self.type():
                expected, given = (errors.type_in_errors(tensor.type()) for tensor in (self, other))
                raise TypeError(f"map2_: expected {expected} for argument '{name}' (got {given})")
        raise TypeError("map2_ is only implemented on CPU tensors")

    def record_stream(self, stream: Any) -> None:
        """Nothing is asynchronous here, so no memory can be reused too early."""
        if not isinstance(stream, torch.Stream):
            raise RuntimeError("unknown parameter type")  # torch/csrc/utils/python_arg_parser.h
        if self.is_nested or self.layout is not torch.strided:
            super().record_stream(stream)  # refused, by PyTorch

    def __format__(self, spec: str) -> str:
        plain = type(self) is SimulatedTensor
        return format(self.item(), spec) if plain and self.dim() == 0 else object.__format__(self, spec)

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        if type(self) is classes.twin_of(torch.nn.Parameter):
            return "Parameter containing:\n" + repr(wrap(self, self.device).requires_grad_(self.requires_grad))
        if self.is_nested and tensor_contents is None:
            rows = [wrap(row, self.device) for row in unwrap(self).unbind()]
            tensor_contents = "[\n" + ",\n".join(textwrap.indent(repr(row), "  ") for row in rows) + "\n]"
        failed = None
        with _below():  # afterwards, too, a tensor can be looked at
            try:
                text = super().__repr__(tensor_contents=tensor_contents) if tensor_contents else super().__repr__()
            except BaseException as error:
                # torch._tensor_str holds a guard in its frame, which puts back what was below, whenever it goes.
                failed = error.with_traceback(None)
        if failed is not None:
            raise failed
        # torch prints the class's name for a subclass; "Tensor(" and "tensor(" are equally long, so columns stay.
        unnamed = type(self) is SimulatedTensor and text.startswith("Tensor(")
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
            if type(self) is SimulatedTensor and not state:
                return rebuild, arguments
            return reduced[0], (rebuild, classes.original_of(kind), arguments, state)
        return reduced

    def __deepcopy__(self, memo: Any) -> Any:
        if self.layout not in (torch.strided, torch.sparse_coo):
            self.untyped_storage()  # refused, by PyTorch
        copied = super().__deepcopy__(memo)
        copied._samedevice_device = self._samedevice_device  # the object itself: devices are compared with `is`
        return copied


SimulatedTensor.__name__ = SimulatedTensor.__qualname__ = "Tensor"
SimulatedTensor.__module__ = "torch"
classes.register(SimulatedTensor)
stand_ins.register(SimulatedTensor)


def _refuse_absent(func: Any, args: Any, kwargs: Any) -> None:
    if func.is_view if in_forked_child() else func in _READING:
        return
    # A function of its own, so that no variable of the caller holds a tensor (see made_inside.py).
    for tensor in judgement.tensors_of(args, kwargs):
        refuse_absent(device_of(tensor))


def refuse_gradients_of_nested(tensors: Sequence[torch.Tensor]) -> None:
    """Refuse a nested tensor among tensors that are to have gradients.

    torch/csrc/autograd/input_metadata.cpp asks for sizes, which a nested tensor has not, and the process ends.
    """
    if any(x.is_nested for x in tensors):
        raise NotImplementedError(NO_GRADIENTS_OF_NESTED)


def run(func: Any, args: Any, kwargs: Any, device: torch.device) -> Any:
    """Compute on the CPU, below the Python key; what is new lives on `device`."""
    if kwargs and kwargs.get("device") is not None:
        device, kwargs = _named(kwargs, device)
    if _met_inference and not _in_inference_mode():
        if func is torch.ops.aten.detach.default and args[0].is_inference():
            return wrap(_call_below(func._op, (), args, kwargs or {}), device, counts_versions=True)
        if _is_in_place(func):
            if func.has_kernel_for_dispatch_key(_COMPOSED):  # of inference tensors alone: what is inside has to be met
                return _compose(func, _COMPOSED, args, kwargs or {})
            _refuse_writing(args[0])
    if _met_nested and torch.is_grad_enabled():
        tensors = list(judgement.tensors_of(args, kwargs))
        if any(x.requires_grad for x in tensors):
            refuse_gradients_of_nested(tensors)
    if _met_layouts and (layout := layouts.kind_of(judgement.tensors_of(args, kwargs))):
        result = layouts.run(layout, func, args, kwargs or {}, _with_views if _met_complex else _call_below)
        if func in layouts.ON_CPU:
            return result
    else:
        if func in dtypes.OF_FEWER_DTYPES and device is not CPU:
            dtypes.refuse(func, args, kwargs or {}, _call_below)
        try:
            result = (_with_views if _met_complex else _call_below)(func._op, (), args, kwargs or {})
        except RuntimeError as error:
            if device is CPU:
                raise (layouts.missing(error, func) if isinstance(error, NotImplementedError) else error) from None
            result = _otherwise(func, args, kwargs or {}, error)
    if device is CPU and not (made_inside.is_composing() and _is_on_cpu(result)):
        return result
    kind = type(result)
    if kind is torch.Tensor:
        return wrap(result, device)
    if kind is tuple or kind is list:
        return kind(wrap(x, device) if type(x) is torch.Tensor else x for x in result)
    if result is None and func._schema.name.startswith("aten::_foreach_") and "zero" not in func._schema.name:
        _count_versions(args[0])
    return result


def _otherwise(func: Any, args: Any, kwargs: Any, error: RuntimeError) -> Any:
    """What an operator gives on a GPU that failed on the CPU, which computes here: a result, or CUDA's error."""
    compute = _with_views if _met_complex else _call_below
    packet = func._schema.name.partition("::")[2]
    if not isinstance(error, NotImplementedError):
        if dtypes.divides_by_zero(func, args, str(error)):
            return dtypes.divided_by_zero(func, args, kwargs, compute)
        text = dtypes.text_of_cuda(func, args, str(error))
        raise error if text is None else RuntimeError(text) from None
    if packet in dtypes.COMPUTED_IN_FLOAT and ("'Half'" in str(error) or "'BFloat16'" in str(error)):
        return dtypes.in_float(func, args, kwargs, compute)
    raise kernel_names.of_cuda(packet, args, kwargs, error) or layouts.missing(error, func) from None


def _with_views(operator: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """As `_call_below`, with the keys on that resolve conjugated and negated views."""
    with _with_keys(_included(), _ABOVE_BUT_VIEWS):
        return operator(*args, **kwargs)


def _is_on_cpu(result: Any) -> bool:
    """Whether what was computed is on the CPU: C++ asks for meta tensors too, to learn a shape."""
    return all(x.device.type == "cpu" for x in judgement.tensors_of((result,), None))


def _count_versions(tensors: Any) -> None:
    """native/cuda/Foreach*.cu counts the version of each tensor that it has written to.

    For an operator on a single tensor, autograd does so.
    """
    torch.autograd.graph.increment_version(tensors)  # it leaves out those that have none
    if not _in_inference_mode():
        for tensor in tensors:
            _refuse_writing(tensor)


def _refuse_writing(tensor: torch.Tensor) -> None:
    """c10/core/TensorImpl.h, VariableVersion::bump: an inference tensor has no version, one detached from it has."""
    if isinstance(tensor, torch.Tensor) and tensor.is_inference():
        try:
            tensor._version  # noqa: B018
        except RuntimeError:
            errors.inference_tensor()


@functools.cache
def _is_in_place(func: Any) -> bool:
    """Whether an operator writes to its first argument."""
    arguments = func._schema.arguments
    return bool(arguments and arguments[0].alias_info is not None and arguments[0].alias_info.is_write)


def _named(kwargs: Any, home: torch.device) -> tuple[torch.device, Any]:
    """Where the result of an operator lives that names a device, and the arguments to compute it with on the CPU.

    The CPU is what C++ takes a simulated tensor's device for: unless the program named it, `home` is meant.
    """
    device: torch.device = kwargs["device"]
    if device.type == "cuda":
        return resolve(device), kwargs | {"device": CPU}
    if device.type == "cpu" and not dispatch_modes.asked():
        return home, kwargs
    return CPU, kwargs  # as it comes: C++ asks for meta tensors to learn a shape


def _compose(func: Any, key: Any, args: Any, kwargs: Any) -> Any:
    """Run an operator as PyTorch composes it of others; they come here in their turn."""
    home = device_of(next(judgement.tensors_of(args, kwargs)))  # C++ makes a result where the first argument is
    kernel = composite_kernels.of(func) or functools.partial(func._op_dk, key)
    if home.type == "cuda":
        inside = [index for index in range(len(args)) if made_inside.made_inside(args, index)]
        if inside:  # passed on from here they are held by Python, and could not be told any more
            args = tuple(wrap(arg, home) if index in inside else arg for index, arg in enumerate(args))
    try:
        result = kernel(*args, **kwargs)
    except RuntimeError as error:
        text = dtypes.text_of_cuda_composed(func, args, str(error))
        if text is None:
            raise
        raise RuntimeError(text) from None
    if (
        type(result) is torch.Tensor
        and home.type == "cuda"
        and not result.is_meta
        and not any(result is x for x in args)
    ):
        with _below():
            return wrap(result, home)
    return result


def wrap(tensor: torch.Tensor, device: torch.device, counts_versions: bool = False) -> SimulatedTensor:
    """The same memory as `tensor`, detached, on a simulated GPU.

    On the CPU it is a tensor of the program's: C++ makes none of this class (see ownership.py).
    What is made of an inference tensor has no version, as it has none, unless `counts_versions` is true.
    """
    global _met_complex, _met_inference, _met_layouts, _met_nested, _wrapped_any
    if not _wrapped_any:
        _wrapped_any = True
        made_inside.learn()
        dtensor.started_later()
    if tensor.is_complex():
        _met_complex = True
    if tensor.is_nested:
        _met_nested = _met_layouts = True
    if tensor.is_inference():
        _met_inference = True
        if not counts_versions and not _in_inference_mode():
            with _inference_mode(True):  # else it would count versions, and could be written to
                return wrap(tensor, device)
    plain = tensor.layout is torch.strided
    if not plain:
        _met_layouts = True
        tensor = sparse.with_plain_members(tensor, unwrap)
    wrapped: SimulatedTensor = _make_subclass(SimulatedTensor, tensor)
    if functorch.is_wrapped(wrapped):
        return functorch.beneath(lambda inner: wrap(inner, device), tensor)
    wrapped._samedevice_device = device
    if device is CPU:
        return wrapped
    if plain:
        memory.made(_storage(tensor), device.index)
    else:
        for member in sparse.members(tensor):
            memory.made(_storage(member), device.index)
    return wrapped


def unwrap(tensor: torch.Tensor) -> torch.Tensor:
    """The same memory as `tensor`, detached, as the plain CPU tensor that it is."""
    if in_forked_child():
        refuse_absent(device_of(tensor))
    with _below(), torch._C.DisableTorchFunctionSubclass():
        return tensor.detach()


def _shared_device(args: Any, kwargs: Any) -> torch.device | None:
    """The device of all tensors among the arguments; None where they differ. The hot path, hence so flat."""
    shared = None
    for arg in (*args, *kwargs.values()) if kwargs else args:
        kind = type(arg)
        if kind is SimulatedTensor:
            device = arg._samedevice_device
            if device is not shared:
                if shared is not None:
                    return None
                shared = device
        elif kind is list or kind is tuple:
            for item in arg:
                if isinstance(item, torch.Tensor):
                    device = getattr(item, "_samedevice_device", CPU)
                    if device is not shared:
                        if shared is not None:
                            return None
                        shared = device
        elif isinstance(arg, torch.Tensor):  # a parameter, another subclass, or one on the CPU
            device = getattr(arg, "_samedevice_device", CPU)
            if device is not shared:
                if shared is not None:
                    return None
                shared = device
    return shared
