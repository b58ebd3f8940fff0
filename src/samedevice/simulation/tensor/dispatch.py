"""What happens with each operator that a tensor on a simulated GPU meets: judged, computed on the CPU, wrapped again.

PyTorch hands every operator below autograd to `SimulatedTensor.__torch_dispatch__`, which is `dispatch`. It is the path
that each operator of a program takes, so it is kept short: what does not change between two calls of an operator is
looked up once (operators.py), and an operator on usual tensors of one GPU never leaves `dispatch`.

Note [Below the key]
A simulated tensor has the Python dispatch key, at which PyTorch calls `dispatch`. To compute on the CPU is to go on
below that key, or the operator would come back for ever: `wrapping.call_below` calls one function there, and
`with wrapping.below()` runs a block. Below it a simulated tensor is what it is in C++, a tensor on the CPU. No device
is compared there, no mode sees anything, autograd notes nothing, and what is new is a plain tensor: `wrap` puts it on
its GPU. The keys above Python are off, too: see `_with_views`.
"""

import functools
from collections.abc import Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from samedevice.simulation import state
from samedevice.simulation.calls import Arguments, Compute, Keywords, Overload, Types
from samedevice.simulation.device import dispatch_modes, generators, in_backward, machine, memory
from samedevice.simulation.device.devices import CPU, device_of, in_forked_child, refuse_absent, resolve
from samedevice.simulation.rules import (
    composite_kernels,
    dtype_refusals,
    dtype_texts,
    errors,
    judgement,
    kernel_names,
    layout_errors,
    layout_kinds,
    layouts,
    made_inside,
    nested_checks,
    only_cuda_computes,
    quantized,
)
from samedevice.simulation.tensor import classes, dtensor, large_results, operators, wrapping
from samedevice.simulation.tensor.operators import Operator, known
from samedevice.simulation.tensor.wrapping import (
    below,
    call_below,
    in_inference_mode,
    unwrap,
    wrap,
    wrap_new,
    wrap_several,
    wrap_view,
)

NO_GRADIENTS_OF_NESTED = (
    "samedevice does not simulate gradients of nested tensors on a GPU: compute under torch.no_grad(), keep the nested "
    "tensor on the CPU, or pad its tensors to one shape"
)

_COMPOSED = torch._C.DispatchKey.CompositeImplicitAutograd
_NOTHING: dict[str, Any] = {}

# PyTorch calls __torch_dispatch__ with every key above Python switched off, those that resolve conjugated and negated
# views included (c10/core/DispatchKey.h); a kernel that makes such views inside, like linalg.pinv's, then computes
# wrongly. Only complex tensors have them: once one was met, operators run with these keys on.
_with_keys = torch._C._ForceDispatchKeyGuard
_count_version = torch._C._increment_version  # of torch.autograd.graph.increment_version
_included = torch._C._dispatch_tls_local_include_set
_ABOVE_BUT_VIEWS = torch._C._dispatch_keyset_full() - torch._C._dispatch_keyset_full_after(torch._C.DispatchKey.Python)
for _key in ("Conjugate", "Negative", "ZeroTensor"):
    _ABOVE_BUT_VIEWS = _ABOVE_BUT_VIEWS - torch._C.DispatchKeySet(torch._C._dispatch_key_parse(_key))

# What still works when the simulation has ended: looking, and bringing back (`x.detach().cpu()`, `float(x)`).
_READING = (torch.ops.aten.detach.default, torch.ops.aten._local_scalar_dense.default)


def dispatch(cls: Any, func: Overload, types: Types, args: Arguments = (), kwargs: Keywords | None = None) -> Any:
    """Compute `func` on the device where its tensors are, or refuse it: SimulatedTensor.__torch_dispatch__.

    Most operators are on usual tensors of one GPU, and nobody observes them. They are computed right here; `_dispatch`
    does the same for all others.
    """
    now = state.now
    device = _shared_device(args, kwargs)
    operator = known.get(id(func)) or operators.of(func)
    if (
        not operator.is_plain
        or now.met_unusual  # see Note [Latches]
        or now.before_operators
        or device is CPU
        or device not in now.present  # on several devices, or on a GPU that is no more
    ):
        return _dispatch(operator, func, types, args, kwargs, device)
    if (
        operator.refusal_of is not None
        and not (operator.computed_at_once and args[0].dtype in operator.computed_at_once)
        and (refusal := operator.refusal_of(args, kwargs or _NOTHING)) is not None
    ):
        dtype_refusals.refuse(refusal, func, args, kwargs or {}, call_below)
    if operator.grows >= now.checked_growth:
        large_results.refuse(operator, args, kwargs or _NOTHING, device)
    try:
        result = call_below(operator.function, (), args, kwargs or _NOTHING)
    except RuntimeError as error:
        machine.refuse_if_full(error, device)
        result = _otherwise(operator, args, kwargs or {}, error, call_below)
    if type(result) is torch.Tensor:
        if operator.is_view:
            if operator.expands:
                memory.met_large(result)
            return wrap_view(result, device)
        if operator.keeps_kind and result.dtype in wrapping.REAL and not result.is_inference():
            return wrap_new(result, device)
        return wrap(result, device)
    kind = type(result)
    if (kind is tuple or kind is list) and operator.keeps_kind and not operator.resizes:
        return kind(wrap_several(result, device))
    return _wrapped(operator, result, args, device)


def _dispatch(
    operator: Operator, func: Overload, types: Types, args: Arguments, kwargs: Keywords | None,
    device: torch.device | None,
) -> Any:  # fmt: skip
    """Do what `dispatch` does, whatever the operator and its tensors are."""
    now = state.now
    if now.met.holders and any(classes.holds_tensors(kind) for kind in types):
        return NotImplemented  # it computes with the tensors that it holds, which come here in their turn
    if operator.is_collective and func.namespace in now.carried_out:
        result = now.carried_out[func.namespace](func, args, kwargs)
        if result is not NotImplemented:
            return result
    if now.met.quantized and FakeTensor not in types and quantized.holds(args, kwargs or {}):
        quantized.refuse(func, args, kwargs or {})
    if device not in now.present:
        if FakeTensor in types:
            return NotImplemented  # its mode decides
        if any(dtensor.is_one(kind) for kind in types):
            return NotImplemented  # it refuses plain tensors, and what it holds comes here in its turn
        _refuse_absent(func, args, kwargs)
        try:
            device = judgement.judge(func, args, kwargs or {})
        except RuntimeError as refusal:
            now.refusal = str(refusal)
            # Without the frames of who found it, which say nothing of the program.
            raise refusal.with_traceback(None) from None
        if device in judgement.COMPOSED:
            return _compose(func, device, args, kwargs or {})
        in_backward.settle(device)
    for observe in now.before_operators:
        observe(func, args, kwargs, device)
    if operator.draws:
        generator = generators.passed(args, kwargs)
        if generators.is_of_another_type(generator, device) and "generator" in (kwargs or {}):
            compute = functools.partial(_undrawn, operator, args, kwargs, device)
            return generators.unless_drawn(compute, generator, device)
        with generators.of(device, generator):
            return run(operator, args, kwargs, device)
    return run(operator, args, kwargs, device)


def _undrawn(
    operator: Operator, args: Arguments, kwargs: Keywords | None, device: torch.device, generator: torch.Generator
) -> Any:
    """What an operator gives with this generator; one that works in place leaves what its tensor holds."""
    kwargs = {**(kwargs or {}), "generator": generator}
    if not _is_in_place(operator.overload):
        return run(operator, args, kwargs, device)
    run(operator, (wrap(unwrap(args[0]).clone(), device), *args[1:]), kwargs, device)
    return args[0]


def run(operator: Operator, args: Arguments, kwargs: Keywords | None, device: torch.device) -> Any:
    """Compute on the CPU, below the Python key; what is new lives on `device`."""
    if kwargs and kwargs.get("device") is not None:
        device, kwargs = _named(kwargs, device)
    func, met = operator.overload, state.now.met
    if met.inference and not in_inference_mode():
        if func is torch.ops.aten.detach.default and args[0].is_inference():
            return wrap(call_below(func._op, (), args, kwargs or {}), device, counts_versions=True)
        if _is_in_place(func):
            if func.has_kernel_for_dispatch_key(_COMPOSED):  # of inference tensors alone: what is inside has to be met
                return _compose(func, _COMPOSED, args, kwargs or {})
            _refuse_writing(args[0])
    call = _with_views if met.complex else call_below
    if met.layouts and (layout := layout_kinds.kind_of(judgement.tensors_of(args, kwargs))):
        result = layouts.run(layout, func, args, kwargs or {}, call)
        if met.nested and torch.is_grad_enabled() and func is not torch.ops.aten.detach.default:
            tensors = list(judgement.tensors_of(args, kwargs))
            if any(x.requires_grad for x in tensors):
                refuse_gradients_of_nested(tensors)
        return result if func in nested_checks.ON_CPU else _wrapped(operator, result, args, device)
    return _wrapped(operator, _compute(operator, args, kwargs or {}, device, call), args, device)


def _compute(operator: Operator, args: Arguments, kwargs: Keywords, device: torch.device, call: Compute) -> Any:
    """Compute on the CPU what strided tensors go into; refuse what CUDA has no kernel for, in its words."""
    refusal_of = operator.refusal_of_rare if state.now.met.rare else operator.refusal_of
    if (
        refusal_of is not None
        and device is not CPU
        and not (operator.computed_at_once and args[0].dtype in operator.computed_at_once)
    ):
        refusal = refusal_of(args, kwargs)
        if refusal is not None:
            dtype_refusals.refuse(refusal, operator.overload, args, kwargs, call_below)
    if device is not CPU and operator.grows >= state.now.checked_growth:
        large_results.refuse(operator, args, kwargs, device)
    try:
        return call(operator.function, (), args, kwargs)
    except RuntimeError as error:
        if device is not CPU:
            machine.refuse_if_full(error, device)
            return _otherwise(operator, args, kwargs, error, call)
        if isinstance(error, NotImplementedError):
            raise layout_errors.missing(error, operator.overload) from None
        raise


def _otherwise(operator: Operator, args: Arguments, kwargs: Keywords, error: RuntimeError, compute: Compute) -> Any:
    """Return what an operator gives on a GPU that failed on the CPU, which computes here, or raise CUDA's error."""
    overload, packet = operator.overload, operator.overload._schema.name.partition("::")[2]
    result = only_cuda_computes.by_other_operators(overload, args, kwargs, str(error), compute)
    if result is not NotImplemented:
        return result
    if dtype_refusals.is_about_dtypes(error) and operator.refusal_of_rare is not None:
        refusal = operator.refusal_of_rare(args, kwargs)
        if refusal is not None:
            raise refusal from None
    if kernel_names.refuses_dtype(error) and (
        dtype_refusals.is_computed(packet, args, kwargs) or only_cuda_computes.is_derivative_of_halves(packet, args)
    ):
        return only_cuda_computes.in_another_dtype(overload, args, kwargs, compute)
    if not isinstance(error, NotImplementedError):
        text = dtype_texts.text_of_cuda(overload, args, str(error))
        raise error if text is None else RuntimeError(text) from None
    raise kernel_names.of_cuda(error) or layout_errors.missing(error, overload) from None


def _wrapped(operator: Operator, result: Any, args: Arguments, device: torch.device) -> Any:
    """Put what was computed on `device`."""
    if device is CPU and not (made_inside.is_composing() and _is_on_cpu(result)):
        return result
    if operator.resizes:
        wrapping.resized(result)
    kind = type(result)
    if kind is torch.Tensor:
        if operator.expands:
            memory.met_large(result)
        return wrap(result, device)
    if kind is tuple or kind is list:
        return kind(wrap(x, device) if type(x) is torch.Tensor else x for x in result)
    if result is None and operator.counts_versions:
        _count_versions(args[0])
    return result


def _with_views(function: Any, types: Types, args: Arguments, kwargs: Keywords) -> Any:
    """Do what `call_below` does, with the keys on that resolve conjugated and negated views."""
    with _with_keys(_included(), _ABOVE_BUT_VIEWS):
        return function(*args, **kwargs)


def _is_on_cpu(result: Any) -> bool:
    """Whether what was computed is on the CPU: C++ asks for meta tensors too, to learn a shape."""
    return all(x.device.type == "cpu" for x in judgement.tensors_of((result,), None))


def _count_versions(tensors: Any) -> None:
    """native/cuda/Foreach*.cu counts the version of each tensor that it has written to.

    For an operator on a single tensor, autograd does so.
    """
    _count_version(tensors)  # it leaves out those that have none
    if state.now.met.inference and not in_inference_mode():
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
def _is_in_place(func: Overload) -> bool:
    """Whether an operator writes to its first argument."""
    arguments = func._schema.arguments
    return bool(arguments and arguments[0].alias_info is not None and arguments[0].alias_info.is_write)


def _named(kwargs: Keywords, home: torch.device) -> tuple[torch.device, Any]:
    """The device of what an operator makes that names a device, and the arguments to compute it with on the CPU.

    The CPU is what C++ takes a simulated tensor's device for: unless the program named it, `home` is meant.
    """
    device: torch.device = kwargs["device"]
    if device.type == "cuda":
        return resolve(device), kwargs | {"device": CPU}
    if device.type == "cpu" and not dispatch_modes.asked():
        return home, kwargs
    return CPU, kwargs  # as it comes: C++ asks for meta tensors to learn a shape


def _compose(func: Overload, key: Any, args: Arguments, kwargs: Keywords) -> Any:
    """Run an operator as PyTorch composes it of others; they come here in their turn."""
    home = device_of(next(judgement.tensors_of(args, kwargs)))  # C++ makes a result where the first argument is
    kernel = composite_kernels.of(func) or functools.partial(func._op_dk, key)
    if home.type == "cuda":
        inside = [index for index in range(len(args)) if made_inside.made_inside(args, index)]
        if inside:  # passed on from here they are held by Python, and could not be told. See Note [Made inside].
            args = tuple(wrap(arg, home) if index in inside else arg for index, arg in enumerate(args))
        for name in kwargs:
            if made_inside.made_inside(kwargs, name):  # an output, which C++ returns as it is
                made_inside.remember(kwargs[name])
    try:
        result = kernel(*args, **kwargs)
    except RuntimeError as error:
        text = dtype_texts.text_of_cuda_composed(func, args, str(error))
        if text is None:
            raise
        raise RuntimeError(text) from None
    if (
        type(result) is torch.Tensor
        and home.type == "cuda"
        and not result.is_meta
        and not any(result is x for x in args)
    ):
        with below():
            return wrap(result, home)
    return result


def _shared_device(args: Arguments, kwargs: Keywords | None) -> torch.device | None:
    """The device of all tensors among the arguments; None where they differ. The hot path, hence so flat."""
    shared, simulated = None, classes.simulated
    for arg in (*args, *kwargs.values()) if kwargs else args:
        kind = type(arg)
        if kind is simulated:
            device = arg._samedevice_device
            if device is not shared:
                if shared is not None:
                    return None
                shared = device
        elif kind is list or kind is tuple:
            for item in arg:
                if type(item) is simulated or isinstance(item, torch.Tensor):
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


def _refuse_absent(func: Overload, args: Arguments, kwargs: Keywords | None) -> None:
    """Refuse tensors whose GPU does not exist now, unless they are only looked at or brought back."""
    if func.is_view if in_forked_child() else func in _READING:
        return
    # A function of its own, so that no variable of the caller holds a tensor. See Note [Made inside].
    for tensor in judgement.tensors_of(args, kwargs):
        refuse_absent(device_of(tensor))


def refuse_gradients_of_nested(tensors: Sequence[torch.Tensor]) -> None:
    """Refuse a nested tensor among tensors that are to have gradients.

    torch/csrc/autograd/input_metadata.cpp asks for sizes, which a nested tensor has not, and the process ends.
    """
    if any(x.is_nested for x in tensors):
        raise NotImplementedError(NO_GRADIENTS_OF_NESTED)
