"""A tensor on another device: itself if it is there, else a copy whose gradient flows back to where it came from."""

from typing import Any

import torch
from torch.autograd import forward_ad

from samedevice.simulation import state
from samedevice.simulation.device import dispatch_modes, memory, sync_debug
from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.rules import layout_kinds
from samedevice.simulation.tensor import (
    batched_gradients,
    dispatching_classes,
    dtensor,
    fake,
    functorch,
    nested_gradients,
)
from samedevice.simulation.tensor.classes import Twin, dispatches_itself, holds_tensors, is_of_program, refuse_class
from samedevice.simulation.tensor.wrapping import call_below, overrides_nothing, unwrap, wrap

_to = torch.Tensor.to
_NOTHING: dict[str, Any] = {}


class _ToCopy(torch.autograd.Function):
    """The copy between devices; its gradient returns to the source device."""

    generate_vmap_rule = True

    @staticmethod
    def forward(
        tensor: torch.Tensor, device: torch.device, dtype: torch.dtype | None,
        memory_format: torch.memory_format | None, non_blocking: bool,
    ) -> torch.Tensor:  # fmt: skip
        now = state.now
        if now.sync_debug_level:
            sync_debug.copies(tensor, device, non_blocking)
        for observe in now.on_copy:
            observe(tensor, device)
        if is_of_program(type(tensor)):
            return _copied_seen(dispatching_classes.on_cpu(tensor), device, dtype, memory_format, non_blocking)
        if not dispatch_modes.now():
            return _copied(tensor, device, dtype, memory_format)
        if tensor.layout is torch.strided:
            return _copied_seen(tensor, device, dtype, memory_format, non_blocking)
        with dispatch_modes.unseen():
            return _copied(tensor, device, dtype, memory_format)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.source, ctx.source_dtype, ctx.source_layout = device_of(inputs[0]), inputs[0].dtype, inputs[0].layout
        ctx.target = inputs[1:]

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        layouts = gradient.layout, ctx.source_layout
        if layouts[0] is not layouts[1] and torch.jagged not in layouts:  # native/TensorConversions.cpp, to
            was, wanted = (layout_kinds.name_of(layout) for layout in layouts)
            raise RuntimeError(
                "to(options) doesn't support converting to a different layout, but got self.layout being "
                f"{was} and options.layout set as {wanted}"
            )
        dtype = None if gradient.dtype == ctx.source_dtype else ctx.source_dtype
        if CPU not in (ctx.source, device_of(gradient)):
            functorch.refuse_between_gpus(gradient)
        return move(gradient, ctx.source, dtype), None, None, None, None

    @staticmethod
    def jvp(ctx: Any, tangent: torch.Tensor, *_: None) -> torch.Tensor:
        return move(tangent, *ctx.target)


_ToCopy._backward_cls.__name__ = "ToCopyBackward0"  # what `grad_fn=` shows
# In torch 2.11, the name of C++ is lost once only Python holds the function.
_ToCopy._backward_cls.name = lambda self: type(self).__name__


def move(
    tensor: torch.Tensor, device: torch.device, dtype: torch.dtype | None = None,
    memory_format: torch.memory_format | None = None, non_blocking: bool = False,
) -> torch.Tensor:  # fmt: skip
    """`tensor` on `device`: itself if it is there, else a copy that carries its gradient back."""
    if device_of(tensor) == device:
        if dtype is None and memory_format in (None, torch.preserve_format):
            return tensor
        return _to(tensor, tensor.dtype if dtype is None else dtype, memory_format=memory_format)
    if _is_usual(tensor) and device.type in ("cuda", "cpu") and not tensor.is_meta:
        if torch.is_grad_enabled() and tensor.requires_grad:
            return _ToCopy.apply(tensor, device, dtype, memory_format, non_blocking)
        if state.now.sync_debug_level or state.now.on_copy or dispatch_modes.now():
            return _ToCopy.forward(tensor, device, dtype, memory_format, non_blocking)
        return _copied_as_usual(tensor, device, dtype, memory_format)
    if batched_gradients.is_batched(tensor):
        return batched_gradients.beneath(lambda held: move(held, device, dtype, memory_format), tensor)
    if _holds_parts(type(tensor)) and device.type in ("cuda", "cpu"):
        return _ToCopy.apply(tensor, device, dtype, memory_format, non_blocking)
    if dispatches_itself(type(tensor)) or (functorch.is_wrapped(tensor) and fake.is_fake(tensor)):
        if device.type == "cuda" and not fake.is_fake(tensor):
            refuse_class(type(tensor))
        return _to(tensor, device, dtype, memory_format=memory_format)
    if device.type not in ("cuda", "cpu"):
        return _to(tensor if dispatch_modes.now() else unwrap(tensor), device, dtype)
    if tensor.is_meta:
        return _to(tensor, CPU)  # PyTorch refuses this
    if (torch.is_grad_enabled() and tensor.requires_grad) or forward_ad._current_level >= 0:
        if tensor.is_nested and tensor.requires_grad:
            return nested_gradients.claimed(move(tensor.detach(), device, dtype, memory_format, non_blocking))
        return _ToCopy.apply(tensor, device, dtype, memory_format, non_blocking)
    return _ToCopy.forward(tensor, device, dtype, memory_format, non_blocking)


def _is_usual(tensor: torch.Tensor) -> bool:
    """Whether a tensor is of one of PyTorch's two common classes, and nothing was wrapped around another tensor yet."""
    now, kind = state.now, type(tensor)
    return bool(
        (kind is torch.Tensor or kind is torch.nn.Parameter or overrides_nothing(kind))
        and now.before_wrapped
        and not now.met_unusual
        and not now.forked
        and forward_ad._current_level < 0
    )


def _copied(
    tensor: torch.Tensor, device: torch.device, dtype: torch.dtype | None, memory_format: torch.memory_format | None
) -> torch.Tensor:
    if _is_usual(tensor):
        return _copied_as_usual(tensor, device, dtype, memory_format)
    if _holds_parts(type(tensor)):
        with dispatch_modes.asking():
            held: torch.Tensor = torch.ops.aten._to_copy.default(tensor, dtype=dtype, device=device)
        return held
    if device.type == "cuda" and tensor.layout is torch.strided and not tensor.is_nested:
        memory.expect(tensor.numel() * (dtype or tensor.dtype).itemsize, device.index)
    copy = _to(unwrap(tensor), tensor.dtype if dtype is None else dtype, copy=True, memory_format=memory_format)
    if device.type == "cuda" or functorch.is_wrapped(copy):
        return wrap(copy, device)
    return copy


def _copied_as_usual(
    tensor: torch.Tensor, device: torch.device, dtype: torch.dtype | None, memory_format: torch.memory_format | None
) -> torch.Tensor:
    """The copy of a usual tensor that is to have no gradient, or gets it from `_ToCopy`."""
    if device.type == "cuda" and tensor.layout is torch.strided and not tensor.is_nested:
        memory.expect(tensor.numel() * (dtype or tensor.dtype).itemsize, device.index)
    if not isinstance(type(tensor), Twin):
        copy = _to(tensor, tensor.dtype if dtype is None else dtype, copy=True, memory_format=memory_format)
    elif dtype is None and memory_format is None:
        copy = call_below(torch.clone, (), (tensor,), _NOTHING)
    else:
        how = {"dtype": tensor.dtype if dtype is None else dtype, "copy": True, "memory_format": memory_format}
        copy = call_below(_to, (), (tensor,), how)
    return wrap(copy, device) if device.type == "cuda" else copy


def _holds_parts(kind: type) -> bool:
    """Whether this is one of PyTorch's classes that move by moving the tensors that they hold."""
    return holds_tensors(kind) or dtensor.is_one(kind)


def _copied_seen(
    tensor: torch.Tensor, device: torch.device, dtype: torch.dtype | None, memory_format: torch.memory_format | None,
    non_blocking: bool,
) -> torch.Tensor:  # fmt: skip
    """The copy as modes see it, and classes that dispatch operators.

    Tensor.to(device) names the layout, Tensor.to(device, dtype) does not.
    """
    options = {"dtype": tensor.dtype, "layout": tensor.layout} if dtype is None else {"dtype": dtype}
    with dispatch_modes.asking():
        copy: torch.Tensor = torch.ops.aten._to_copy.default(
            tensor, **options, device=device, non_blocking=non_blocking, memory_format=memory_format
        )
    return copy
