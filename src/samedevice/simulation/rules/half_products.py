"""Products and convolutions of float16, computed as CUDA computes them: summed in float32, and rounded once.

cuBLAS and cuDNN do so (aten/src/ATen/cuda/CUDABlas.cpp, CUDA_R_32F; native/cudnn/Conv_v8.cpp). Of the CPU's kernels for
float16 most do so too, but some are a hundred times as slow as those for float32, which compute here instead.
"""

from collections.abc import Callable
from typing import Any

import torch

_aten = torch.ops.aten
_to = torch.Tensor.to

PRODUCTS = frozenset(
    (
        _aten.addmm.default, _aten.addmv.default, _aten.baddbmm.default, _aten.bmm.default, _aten.convolution.default,
        _aten.convolution_backward.default, _aten.mm.default, _aten.mv.default,
    )
)  # fmt: skip


def in_float32(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a product, which computes in float32 what it is given in float16 alone.

    It is called below the key. What float32 cannot compute is computed, or refused, as it was given.
    """

    def compute(*args: Any, **kwargs: Any) -> Any:
        if args[0].dtype is not torch.float16 or not all(_is_half(arg) for arg in args):
            return function(*args, **kwargs)
        try:
            larger = [_to(arg, torch.float32) if isinstance(arg, torch.Tensor) else arg for arg in args]
            result = function(*larger, **kwargs)
        except RuntimeError:
            return function(*args, **kwargs)
        if isinstance(result, torch.Tensor):
            return _to(result, torch.float16)
        return tuple(None if part is None else _to(part, torch.float16) for part in result)

    return compute


def _is_half(arg: Any) -> bool:
    return not isinstance(arg, torch.Tensor) or arg.dtype is torch.float16
