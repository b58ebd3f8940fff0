"""The device checks of autograd, which sees only CPU tensors here and so cannot make them itself."""

import re
import weakref
from collections.abc import Iterator
from typing import Any

import torch
from torch.autograd.function import BackwardCFunction, _HookMixin

from samedevice.simulation.device import in_backward
from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.rules import made_inside
from samedevice.simulation.stand_ins import overridden
from samedevice.simulation.tensor import batched_gradients, classes, dispatching_classes, fake, functorch, ownership
from samedevice.simulation.tensor.moving import move
from samedevice.simulation.tensor.set_data import LEFT_BEHIND, moved_after
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor
from samedevice.simulation.tensor.transfers import type_
from samedevice.simulation.tensor.wrapping import wrap

_grad = torch.Tensor.grad
_read_grad, _write_grad = _grad.__get__, _grad.__set__
_register_hook = torch.Tensor.register_hook
_register_post_accumulate_grad_hook = torch.Tensor.register_post_accumulate_grad_hook
_engine_run_backward = torch.autograd._engine_run_backward
_apply = torch.autograd.Function.__dict__["apply"]
_backward = BackwardCFunction.apply
_backward_boxed: Any = getattr(BackwardCFunction, "apply_boxed", None)  # since torch 2.13
_register_hook_of_node = _HookMixin._register_hook
_swap_tensors = torch.utils.swap_tensors
_weak, _Tensor, _Parameter = weakref.ref, torch.Tensor, torch.nn.Parameter  # read at each gradient

# The part of a type in an error (errors.type_in_errors) that is the CPU's.
_MODIFIED = re.compile(r"(?<=has been modified by an inplace operation: \[)(torch\.|CPU)")


def replacements() -> Iterator[tuple[object, str, object]]:
    for name in ("grad", "_grad"):  # two names of one in C++
        yield torch.Tensor, name, property(_get_grad, _set_grad, _grad.__delete__, _grad.__doc__)
    yield torch.Tensor, "register_hook", register_hook
    yield torch.Tensor, "register_post_accumulate_grad_hook", register_post_accumulate_grad_hook
    yield torch.utils, "swap_tensors", swap_tensors
    yield torch.autograd, "_engine_run_backward", _run_backward
    yield torch.autograd.Function, "apply", classmethod(_apply_function)
    yield BackwardCFunction, "apply", _apply_backward
    if _backward_boxed is not None:
        yield BackwardCFunction, "apply_boxed", _apply_backward_boxed
    yield _HookMixin, "_register_hook", staticmethod(_register_node_hook)


def _get_grad(self: torch.Tensor) -> Any:
    gradient: Any = _read_grad(self)
    if gradient is None:
        return None
    kind = type(gradient)
    if kind is _Tensor:
        if type(self) is _Parameter or type(self) is _Tensor:
            gradient._samedevice_owner = _weak(self)
            return gradient
    elif kind is classes.simulated:
        if gradient._samedevice_device is getattr(self, "_samedevice_device", None):
            gradient._samedevice_owner = _weak(self)
            return gradient
    elif not isinstance(gradient, torch.Tensor):
        return gradient  # what overrides this returns
    if isinstance(self, SimulatedTensor):
        if type(gradient) is torch.Tensor and not hasattr(gradient, LEFT_BEHIND):
            gradient = _put_there(gradient, self.device)
            _write_grad(self, gradient)
    elif _belongs_to_the_cpu(gradient):
        gradient = ownership.plain(gradient.cpu())
        _write_grad(self, gradient)
    gradient._samedevice_owner = _weak(self)  # transfers.py puts it back when `x.grad.data = y` moves it
    return gradient


def _belongs_to_the_cpu(gradient: torch.Tensor) -> bool:
    """Whether a gradient that C++ gave to a tensor on the CPU is a simulated one.

    engine.cpp, validate_outputs: a single number is moved.
    """
    if not isinstance(gradient, SimulatedTensor):
        return False
    return gradient.is_cpu or (gradient.dim() == 0 and not hasattr(gradient, LEFT_BEHIND))


def _set_grad(self: torch.Tensor, gradient: torch.Tensor | None) -> None:
    """torch/csrc/autograd/python_variable.cpp, THPVariable_set_grad."""
    if overridden(self):
        return _write_grad(self, gradient)
    if isinstance(gradient, torch.Tensor) and gradient is not self and _has_dtype_of(gradient, self):
        given, here = device_of(gradient), device_of(self)
        if given.type != here.type:
            raise RuntimeError(
                f"attempting to assign a gradient with device type '{given.type}' to a tensor with device type "
                f"'{here.type}'. Please ensure that the gradient and the tensor are on the same device"
            )
        if given != here:
            # Printed as PyTorch prints it: an index is an int8, hence a character, and the first zero ends the text.
            text = (
                f"attempting to assign a gradient located on device with index '{chr(given.index)}' to a tensor "
                f"located on device with index '{chr(here.index)}'. Please ensure that the gradient and the tensor are "
                "on the same device"
            )
            raise RuntimeError(text.partition("\0")[0])
    before = _read_grad(self)
    _write_grad(self, gradient)
    if before is not None and before is not gradient and (noted := before.__dict__):
        noted.pop("_samedevice_owner", None)
        if LEFT_BEHIND in noted:
            moved_after(before)


def _has_dtype_of(gradient: torch.Tensor, tensor: torch.Tensor) -> bool:
    """Whether a gradient has the dtype that this tensor's has to have; only a leaf tells of it."""
    expected = getattr(tensor, "grad_dtype", tensor.dtype) if tensor.is_leaf else tensor.dtype
    return expected in (gradient.dtype, None)


def swap_tensors(t1: torch.Tensor, t2: torch.Tensor) -> None:
    """torch.utils.swap_tensors, which refuses tensors with weak references: those of _get_grad do not count."""
    for tensor in (t1, t2):
        gradient = _read_grad(tensor)
        if gradient is not None:
            gradient.__dict__.pop("_samedevice_owner", None)
    kinds = type(t1), type(t2)
    _swap_tensors(t1, t2)
    for tensor, kind in ((t1, kinds[1]), (t2, kinds[0])):  # `tensor.__class__` does not say where it is
        classes.assign(tensor, kind)


def _fit(gradient: torch.Tensor, device: torch.device, index: int, function: str = "", shape: Any = None) -> Any:
    """torch/csrc/autograd/engine.cpp, validate_outputs: a 0-dim gradient is moved, another is refused.

    A gradient is summed to its tensor's `shape` first, and a wrong shape is refused first.
    """
    if not isinstance(gradient, torch.Tensor) or device_of(gradient) == device:
        return gradient
    if fake.is_fake(gradient) or classes.is_of_program(type(gradient)):  # engine.cpp lets these pass
        return gradient
    if gradient.dim() == 0 or shape == ():
        return move(gradient, device)
    if shape is not None and not _can_become(shape, gradient.shape):
        return gradient
    raise RuntimeError(
        f"{function}invalid gradient at index {index} - expected device {device} but got {device_of(gradient)}"
    )


def _can_become(shape: Any, larger: Any) -> bool:
    """Whether a tensor of this shape expands to the larger one."""
    pairs = zip(reversed(shape), reversed(larger), strict=False)
    return len(shape) <= len(larger) and all(size in (1, other) for size, other in pairs)


def _is_held_to_its_device(output: Any) -> bool:
    """Whether a gradient that is given for this has to be where it is (engine.cpp, validate_outputs).

    It is not asked of a subclass. But the node of `x.as_subclass(C)` was made for a plain tensor, which became one.
    """
    if not isinstance(output, torch.Tensor):
        return False
    if not classes.is_of_program(type(output)):
        return True
    return type(output.grad_fn).__name__ == "AliasBackward0" and dispatching_classes.has_memory(type(output))


def _run_backward(outputs: Any, gradients: Any, *args: Any, **kwargs: Any) -> Any:
    fitted = tuple(
        [
            _fit(gradient, device_of(output), index) if _is_held_to_its_device(output) else gradient
            for index, (output, gradient) in enumerate(zip(outputs, gradients, strict=True))
        ]
    )
    try:
        with made_inside.composing(), in_backward.run(outputs):
            results = _engine_run_backward(outputs, fitted, *args, **kwargs)
    except RuntimeError as error:
        if not _MODIFIED.search(str(error)) or not isinstance(outputs[0], SimulatedTensor):
            raise
        # autograd/saved_variable.cpp prints the type of a tensor that is one of the CPU's in C++
        text = _MODIFIED.sub(lambda cpu: "CUDA" if cpu[1] == "CPU" else "torch.cuda.", str(error))
        raise RuntimeError(text).with_traceback(error.__traceback__) from None
    if not results:
        return results  # of Tensor.backward
    return tuple(
        move(ownership.plain(gradient), device_of(wanted)) if _can_move(gradient, wanted) else gradient
        for gradient, wanted in zip(results, args[2], strict=True)
    )


def _can_move(gradient: torch.Tensor | None, wanted: Any) -> bool:
    """Whether autograd says where `gradient` belongs; a GradientEdge, which stands for a tensor, does not know it."""
    return gradient is not None and isinstance(wanted, torch.Tensor) and not batched_gradients.is_batched(gradient)


def _apply_function(cls: type, *args: Any, **kwargs: Any) -> Any:
    """Function.apply, which also notes where its inputs were: the backward of the same call is held to it."""
    result = _apply.__get__(None, cls)(*args, **kwargs)
    for output in result if isinstance(result, tuple) else (result,):
        node = output.grad_fn if isinstance(output, torch.Tensor) else None
        if isinstance(node, BackwardCFunction):
            with torch._C.DisableTorchFunctionSubclass():  # nn.utils._expanded_weights refuses any question
                node._samedevice_inputs = [
                    (device_of(x), x.size()) if isinstance(x, torch.Tensor) else None for x in args
                ]
            outputs = result if isinstance(result, tuple) else (result,)
            places = [x._samedevice_device if isinstance(x, SimulatedTensor) else None for x in outputs]
            home = next((place for place in places if place not in (None, CPU)), CPU)
            if home is not CPU or not any(functorch.is_wrapped(x) for x in outputs if isinstance(x, torch.Tensor)):
                node._samedevice_home = home  # which a wrapped tensor's gradient tells
            node._samedevice_outputs = places
            break
    return result


def _apply_backward(self: Any, *gradients: Any) -> Any:
    incoming = list(gradients)
    _put_zeros_there(self, incoming)
    with in_backward.running(in_backward.home_of(self, incoming)):
        result = _backward(self, *incoming)
    return _fit_to_inputs(self, result)


def _apply_backward_boxed(self: Any, gradients: list[Any]) -> Any:
    """The same of a Function with `boxed_grads_call`, which empties the list of its gradients."""
    _put_zeros_there(self, gradients)
    with in_backward.running(in_backward.home_of(self, gradients)):
        result = _backward_boxed(self, gradients)
    return _fit_to_inputs(self, result)


def _put_zeros_there(node: Any, gradients: list[Any]) -> None:
    """Put zeros that C++ made for an output that nobody used where that output was."""
    for index, device in enumerate(getattr(node, "_samedevice_outputs", ())):
        gradients[index] = _put_there(gradients[index], device)


def _put_there(gradient: torch.Tensor, device: torch.device | None) -> Any:
    """Put a gradient that a formula in C++ has made for itself, on what it took for its tensor's device, on `device`.

    None stands for the CPU, where it is.
    """
    if device is None or type(gradient) is not torch.Tensor or device_of(gradient) is not CPU:
        return gradient
    if gradient._is_zerotensor():  # without memory: C++ computes what is made of it, and that would be on the CPU
        gradient = gradient.clone()
    if batched_gradients.is_batched(gradient):
        return batched_gradients.beneath(lambda held: wrap(held, device), gradient)
    return wrap(gradient, device)


def _fit_to_inputs(self: Any, result: Any) -> Any:
    inputs = getattr(self, "_samedevice_inputs", None)
    if inputs is None:
        return result
    single = not isinstance(result, tuple)
    given = (result,) if single else result
    tensors = -1
    fitted = []
    for gradient, expected in zip(given, inputs, strict=False):
        if expected is not None:
            tensors += 1
            gradient = _fit(gradient, expected[0], tensors, f"Function {self.name()} returned an ", expected[1])
        fitted.append(gradient)
    fitted.extend(given[len(fitted) :])
    return fitted[0] if single else tuple(fitted)


def register_hook(self: torch.Tensor, hook: Any) -> Any:
    """Tensor.register_hook; what the hook returns is held to what it was given."""
    if overridden(self):
        return _register_hook(self, hook)
    node, here = self.grad_fn, device_of(self)
    attributes = vars(self)  # not the tensor, which would hold itself by its hook

    def checked(gradient: torch.Tensor | None) -> Any:
        if gradient is None:  # a formula has none, as that of x.norm(0)
            return hook(None)
        gradient = _put_there(gradient, attributes.get("_samedevice_device"))
        running = in_backward.home_of(in_backward.current_node(), (), here)
        # A module may have moved a leaf since. What CUDA moves is moved before a hook sees it.
        place, moved = running if node is None else here, None
        if gradient.dim() == 0 and device_of(gradient) != place:
            gradient = moved = move(gradient, place)
        with in_backward.running(running):
            result = hook(gradient)
        if result is None:
            return moved
        _check_hook(hook, gradient, result)
        if node is not None and isinstance(result, torch.Tensor) and device_of(result) != device_of(gradient):
            _expect(node, here)
        return result

    checked.__name__ = _name(hook)
    return _register_hook(self, checked)


def _expect(node: Any, device: torch.device) -> None:
    """Hold what a node of the graph next returns to `device`, where the tensor that it made is."""
    if node.name() in ("ToCopyBackward0", "CopyBackwards"):
        return  # it is the node that changes devices

    def check(gradients: Any, _: Any) -> None:
        handle.remove()
        for index, gradient in enumerate(gradients):
            _fit(gradient, device, index, f"Function {node.name()} returned an ")

    handle = node.register_hook(check)


def _name(hook: Any) -> str:
    return getattr(hook, "__name__", "<unknown>")


def _check_hook(hook: Any, value: Any, result: Any) -> None:
    """torch/csrc/autograd/python_hook.cpp, check_single_result: the type, hence the kind of device, must stay."""
    both = isinstance(value, torch.Tensor) and isinstance(result, torch.Tensor)
    if both and type_(result) != type_(value):
        raise RuntimeError(
            f"hook '{_name(hook)}' has changed the type of value (was {type_(value)} got {type_(result)})"
        )


def _register_node_hook(hooks: Any, hook: Any) -> Any:
    """What C++ calls for Node.register_hook and Node.register_prehook (torch/csrc/autograd/python_cpp_function.cpp).

    Before each call C++ has the gradients that the hook may replace as its first argument.
    """

    def checked(values: Any, *rest: Any) -> Any:
        incoming = rest[0] if rest else values
        with in_backward.running(in_backward.home_of(in_backward.current_node(), incoming)):
            result = hook(values, *rest)
        for value, new in zip(values, result if isinstance(result, tuple) else (), strict=False):
            _check_hook(hook, value, new)
        return result

    checked.__name__ = _name(hook)
    return _register_hook_of_node(hooks, checked)


def register_post_accumulate_grad_hook(self: torch.Tensor, hook: Any) -> Any:
    """Tensor.register_post_accumulate_grad_hook: one that returns a tensor is refused, another type first."""
    if overridden(self):
        return _register_post_accumulate_grad_hook(self, hook)

    def checked(tensor: torch.Tensor) -> Any:
        with in_backward.running(device_of(tensor)):
            result = hook(tensor)
        _check_hook(hook, tensor, result)
        return result

    checked.__name__ = _name(hook)
    return _register_post_accumulate_grad_hook(self, checked)
