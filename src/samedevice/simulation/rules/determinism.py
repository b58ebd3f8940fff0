"""torch.use_deterministic_algorithms: which operators on a GPU then raise, or warn.

A CUDA kernel that adds in no fixed order calls Context::alertNotDeterministic (aten/src/ATen/Context.cpp) when it
begins. The CPU's kernels, which compute here, mostly do not. So while the setting is on, each operator on a GPU is
looked up in a table first; the texts are PyTorch's.
"""

from collections.abc import Callable
from typing import Any

import torch

from samedevice.simulation.calls import Arguments, Keywords, Overload
from samedevice.simulation.device import sync_debug
from samedevice.simulation.device.devices import CPU

_aten = torch.ops.aten


def _always(*args: Any, **kwargs: Any) -> bool:
    return True


def _of_floats(inputs: torch.Tensor, *args: Any, **kwargs: Any) -> bool:
    return inputs.is_floating_point()


def _with_weights(inputs: torch.Tensor, weights: Any = None, *args: Any, **kwargs: Any) -> bool:
    return weights is not None


def _of_largest(*args: Any, **kwargs: Any) -> bool:
    """Whether an embedding bag keeps the largest: its mode, after six tensors and two settings, is 2."""
    return bool(args[8] == 2)


def _multiplies(inputs: torch.Tensor, dim: int, index: Any, src: Any, *reduce: Any, **kwargs: Any) -> bool:
    return (*reduce, kwargs.get("reduce"))[0] in ("prod", "multiply")


# What the kernel of each operator is called in the message, and for which arguments it alerts.
_ALERTS: dict[Any, tuple[str, Callable[..., bool]]] = {
    _aten._adaptive_avg_pool2d_backward: ("adaptive_avg_pool2d_backward_cuda", _always),
    _aten._adaptive_avg_pool3d_backward: ("adaptive_avg_pool3d_backward_cuda", _always),
    _aten._ctc_loss_backward: ("ctc_loss_backward_gpu", _always),
    _aten._embedding_bag_backward: ("embedding_bag_backward_cuda_max", _of_largest),
    _aten._upsample_bicubic2d_aa_backward: ("upsample_bicubic2d_aa_backward_out_cuda", _always),
    _aten._upsample_bilinear2d_aa_backward: ("upsample_bilinear2d_aa_backward_out_cuda", _always),
    _aten.adaptive_max_pool2d_backward: ("adaptive_max_pool2d_backward_cuda", _always),
    _aten.avg_pool3d_backward: ("avg_pool3d_backward_cuda", _always),
    _aten.bincount: ("_bincount_cuda", _with_weights),
    _aten.fractional_max_pool2d_backward: ("fractional_max_pool2d_backward_cuda", _always),
    _aten.fractional_max_pool3d_backward: ("fractional_max_pool3d_backward_cuda", _always),
    _aten.grid_sampler_2d_backward: ("grid_sampler_2d_backward_cuda", _always),
    _aten.grid_sampler_3d_backward: ("grid_sampler_3d_backward_cuda", _always),
    _aten.histc: ("_histc_cuda with floating point input", _of_floats),
    _aten.index_reduce: ("index_reduce_cuda", _always),
    _aten.index_reduce_: ("index_reduce_cuda", _always),
    _aten.max_pool3d_with_indices_backward: ("max_pool3d_with_indices_backward_cuda", _always),
    _aten.nll_loss2d_backward: ("nll_loss2d_backward_out_cuda_template", _always),
    _aten.nll_loss2d_forward: ("nll_loss2d_forward_out_cuda_template", _always),
    _aten.put: ("put_", _always),
    _aten.put_: ("put_", _always),
    _aten.reflection_pad1d_backward: ("reflection_pad1d_backward_out_cuda", _always),
    _aten.reflection_pad3d_backward: ("reflection_pad3d_backward_out_cuda", _always),
    _aten.replication_pad1d_backward: ("replication_pad1d_backward_cuda", _always),
    _aten.replication_pad2d_backward: ("replication_pad2d_backward_cuda", _always),
    _aten.replication_pad3d_backward: ("replication_pad3d_backward_cuda", _always),
    _aten.scatter.reduce: ("scatter_reduce_cuda_kernel", _multiplies),
    _aten.scatter_.reduce: ("scatter_reduce_cuda_kernel", _multiplies),
    _aten.scatter_reduce: ("scatter_reduce_cuda_prod_", _multiplies),
    _aten.scatter_reduce_: ("scatter_reduce_cuda_prod_", _multiplies),
    _aten.upsample_bicubic2d_backward: ("upsample_bicubic2d_backward_out_cuda", _always),
    _aten.upsample_bilinear2d_backward: ("upsample_bilinear2d_backward_out_cuda", _always),
    _aten.upsample_linear1d_backward: ("upsample_linear1d_backward_out_cuda", _always),
    _aten.upsample_trilinear3d_backward: ("upsample_trilinear3d_backward_out_cuda", _always),
}
for _name in ("median", "nanmedian"):
    for _overload in ("dim", "dim_values"):
        _ALERTS[getattr(getattr(_aten, _name), _overload)] = ("median CUDA with indices output", _always)


def check(func: Overload, args: Arguments, kwargs: Keywords, device: torch.device) -> None:
    """Raise or warn where CUDA would, before an operator on a GPU computes."""
    if device is CPU:
        return
    name, alerts = _ALERTS.get(func) or _ALERTS.get(func._overloadpacket) or (None, _always)
    if name is not None and alerts(*args, **(kwargs or {})):
        alert(name)


def alert(name: str) -> None:
    """Context::alertNotDeterministic."""
    if torch.is_deterministic_algorithms_warn_only_enabled():
        sync_debug.warn(
            f"{name} does not have a deterministic implementation, but you set "
            "'torch.use_deterministic_algorithms(True, warn_only=True)'. You can file an issue at "
            "https://github.com/pytorch/pytorch/issues to help us prioritize adding deterministic support for this "
            "operation."
        )
        return
    raise RuntimeError(
        f"{name} does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms(True)'. "
        "You can turn off determinism just for this operation, or you can use the 'warn_only=True' option, if that's "
        "acceptable for your application. You can also file an issue at https://github.com/pytorch/pytorch/issues to "
        "help us prioritize adding deterministic support for this operation."
    )
