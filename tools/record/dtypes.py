"""Questions about dtypes: op_db's operators, with all tensors on one GPU, in each dtype; and pairs of dtypes.

Which dtypes a kernel has code for differs between CPU and CUDA, and so do the words in which it refuses the others. One
case is an operator, one of its samples, a kind of call (call, backward) and a dtype, to which the sample's tensors are
converted; its answer is the dtypes of the results, or the error. Recording and replaying go through `ask`.

`python -m record dtypes` asks this, and layers with every two of twelve dtypes, in five minutes on one GPU. On a real
GPU the process that forks must not start CUDA: the recorder hides the GPUs from it and stops if that failed, as it did
on an H100. The repair has not been run on a GPU since.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch.nn import functional as F  # noqa: N812
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from record.errors import text
from record.operators import OPERATORS, Sample, different

# The twelve that most kernels are written for, then one of each younger kind.
DTYPES = (
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128,
    torch.complex32, torch.uint16, torch.uint32, torch.float8_e4m3fn, torch.float8_e5m2,
)  # fmt: skip
TWELVE = DTYPES[:12]
_MOST = 3  # samples of an operator


class Case(NamedTuple):
    """One call, whose tensors are given their dtypes and go to the GPU."""

    name: str
    number: int
    kind: str
    dtypes: tuple[torch.dtype, ...]
    call: Callable[[], Any]

    @property
    def told(self) -> list[str]:
        return [name_of(dtype) for dtype in self.dtypes]


def name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def cases(name: str, variant: str) -> Iterator[Case]:
    """Yield the cases of an operator of op_db."""
    op = OPERATORS[name, variant]
    for sample in different(op)[:_MOST]:
        for kind in ("call", "backward") if op.supports_autograd else ("call",):
            for dtype in DTYPES:
                if kind == "call" or dtype.is_floating_point or dtype.is_complex:
                    yield Case(
                        " ".join(filter(None, (name, variant))),
                        sample.number,
                        kind,
                        (dtype,),
                        functools.partial(_call, op, sample, kind, dtype),
                    )


def _call(op: Any, sample: Sample, kind: str, dtype: torch.dtype) -> Any:
    """Return the results of an operator in a dtype; for backward, the gradients."""
    made = sample.tensors[0].dtype if sample.tensors else None
    leaves, gradients = [], kind == "backward"
    for x in sample.flat:
        if isinstance(x, torch.Tensor):
            x = x.detach().clone()
            if x.dtype is made:
                x = x.to(dtype)
            x = x.cuda()
            if gradients and (x.is_floating_point() or x.is_complex()):
                x.requires_grad_()
        elif isinstance(x, torch.device):
            x = torch.device("cuda:0")
        elif isinstance(x, torch.dtype) and x is made:
            x = dtype
        leaves.append(x)
    first, args, kwargs = tree_unflatten(leaves, sample.spec)
    result = op.op(first, *args, **kwargs)
    if not gradients:
        return result
    outputs = [x for x in tree_leaves(result) if isinstance(x, torch.Tensor) and x.requires_grad]
    torch.autograd.backward(outputs, [torch.ones_like(x) for x in outputs])
    return [x.grad for x in leaves if isinstance(x, torch.Tensor) and x.requires_grad]


def _ones(dtype: torch.dtype, *shape: int) -> torch.Tensor:
    return torch.ones(*shape).to(dtype).cuda()


def _recurrent(kind: str, x: torch.dtype, w: torch.dtype) -> Any:
    module = getattr(torch.nn, kind)(2, 3)
    if w.is_floating_point or w.is_complex:
        module = module.to(w)
    else:  # nn.Module.to refuses integers, but a program can assign them
        for name, parameter in list(module.named_parameters()):
            delattr(module, name)
            setattr(module, name, torch.nn.Parameter(parameter.detach().to(w), requires_grad=False))
    return module.cuda()(_ones(x, 4, 2) if kind.endswith("Cell") else _ones(x, 4, 1, 2))


# An input of one dtype beside a weight of another, or of the same: what layers do.
PAIRS: dict[str, Callable[[torch.dtype, torch.dtype], Any]] = {
    "conv1d": lambda x, w: F.conv1d(_ones(x, 1, 2, 5), _ones(w, 4, 2, 3)),
    "conv2d": lambda x, w: F.conv2d(_ones(x, 1, 2, 5, 5), _ones(w, 4, 2, 3, 3)),
    "conv2d of a batch": lambda x, w: F.conv2d(_ones(x, 4, 2, 9, 9), _ones(w, 4, 2, 5, 5)),
    "conv2d with a bias": lambda x, w: F.conv2d(_ones(x, 1, 2, 5, 5), _ones(x, 4, 2, 3, 3), _ones(w, 4)),
    "conv2d, depthwise": lambda x, w: F.conv2d(_ones(x, 1, 2, 5, 5), _ones(w, 2, 1, 3, 3), groups=2),
    "conv2d, depthwise, with a bias": lambda x, w: F.conv2d(
        _ones(x, 1, 2, 5, 5), _ones(x, 2, 1, 3, 3), _ones(w, 2), groups=2
    ),
    "conv2d, depthwise, of a batch": lambda x, w: F.conv2d(_ones(x, 4, 2, 9, 9), _ones(w, 2, 1, 3, 3), groups=2),
    "conv2d in groups": lambda x, w: F.conv2d(_ones(x, 1, 4, 5, 5), _ones(w, 4, 2, 3, 3), groups=2),
    "conv2d, dilated": lambda x, w: F.conv2d(_ones(x, 1, 2, 7, 7), _ones(w, 4, 2, 3, 3), dilation=2),
    "conv3d": lambda x, w: F.conv3d(_ones(x, 1, 2, 5, 5, 5), _ones(w, 4, 2, 3, 3, 3)),
    "conv3d, depthwise": lambda x, w: F.conv3d(_ones(x, 1, 2, 5, 5, 5), _ones(w, 2, 1, 3, 3, 3), groups=2),
    "conv1d, depthwise": lambda x, w: F.conv1d(_ones(x, 1, 2, 5), _ones(w, 2, 1, 3), groups=2),
    "conv_transpose1d": lambda x, w: F.conv_transpose1d(_ones(x, 1, 2, 5), _ones(w, 2, 4, 3)),
    "conv_transpose2d": lambda x, w: F.conv_transpose2d(_ones(x, 1, 2, 5, 5), _ones(w, 2, 4, 3, 3)),
    "conv_transpose3d": lambda x, w: F.conv_transpose3d(_ones(x, 1, 2, 5, 5, 5), _ones(w, 2, 4, 3, 3, 3)),
    "linear": lambda x, w: F.linear(_ones(x, 3, 2), _ones(w, 4, 2)),
    "linear with a bias": lambda x, w: F.linear(_ones(x, 3, 2), _ones(x, 4, 2), _ones(w, 4)),
    "linear of three dimensions": lambda x, w: F.linear(_ones(x, 5, 3, 2), _ones(w, 4, 2), _ones(w, 4)),
    "linear of one dimension": lambda x, w: F.linear(_ones(x, 2), _ones(w, 4, 2)),
    "matmul": lambda x, w: _ones(x, 3, 2) @ _ones(w, 2, 4),
    "matmul of a vector": lambda x, w: _ones(x, 3, 2) @ _ones(w, 2),
    "matmul of two vectors": lambda x, w: _ones(x, 2) @ _ones(w, 2),
    "matmul of batches": lambda x, w: _ones(x, 5, 3, 2) @ _ones(w, 5, 2, 4),
    "matmul of a batch and a matrix": lambda x, w: _ones(x, 5, 3, 2) @ _ones(w, 2, 4),
    "einsum": lambda x, w: torch.einsum("bij,bjk->bik", _ones(x, 5, 3, 2), _ones(w, 5, 2, 4)),
    "addmm": lambda x, w: torch.addmm(_ones(x, 4), _ones(x, 3, 2), _ones(w, 2, 4)),
    "addmm, the first of another": lambda x, w: torch.addmm(_ones(w, 4), _ones(x, 3, 2), _ones(x, 2, 4)),
    "baddbmm": lambda x, w: torch.baddbmm(_ones(x, 5, 3, 4), _ones(x, 5, 3, 2), _ones(w, 5, 2, 4)),
    "outer": lambda x, w: torch.outer(_ones(x, 3), _ones(w, 2)),
    "bilinear": lambda x, w: F.bilinear(_ones(x, 3, 2), _ones(x, 3, 2), _ones(w, 4, 2, 2)),
    "RNN": lambda x, w: _recurrent("RNN", x, w),
    "LSTM": lambda x, w: _recurrent("LSTM", x, w),
    "GRU": lambda x, w: _recurrent("GRU", x, w),
    "RNNCell": lambda x, w: _recurrent("RNNCell", x, w),
    "LSTMCell": lambda x, w: _recurrent("LSTMCell", x, w),
    "GRUCell": lambda x, w: _recurrent("GRUCell", x, w),
    "attention, keys of another": lambda x, w: F.scaled_dot_product_attention(
        _ones(x, 1, 2, 4, 8), _ones(w, 1, 2, 4, 8), _ones(x, 1, 2, 4, 8)
    ),
    "attention, values of another": lambda x, w: F.scaled_dot_product_attention(
        _ones(x, 1, 2, 4, 8), _ones(x, 1, 2, 4, 8), _ones(w, 1, 2, 4, 8)
    ),
    "attention with a mask": lambda x, w: F.scaled_dot_product_attention(
        *[_ones(x, 1, 2, 4, 8)] * 3, attn_mask=_ones(w, 4, 4)
    ),
    "layer_norm": lambda x, w: F.layer_norm(_ones(x, 3, 4), (4,), _ones(w, 4), _ones(w, 4)),
    "group_norm": lambda x, w: F.group_norm(_ones(x, 3, 4), 2, _ones(w, 4), _ones(w, 4)),
    "batch_norm": lambda x, w: F.batch_norm(_ones(x, 3, 4), _ones(w, 4), _ones(w, 4), _ones(w, 4), _ones(w, 4)),
    "prelu": lambda x, w: F.prelu(_ones(x, 3, 4), _ones(w, 4)),
    "embedding": lambda x, w: F.embedding(_ones(x, 3), _ones(w, 4, 2)),
    "cross_entropy": lambda x, w: F.cross_entropy(_ones(x, 3, 4), _ones(w, 3)),
    "nll_loss with weights": lambda x, w: F.nll_loss(_ones(x, 3, 4), _ones(torch.int64, 3), _ones(w, 4)),
    "binary_cross_entropy": lambda x, w: F.binary_cross_entropy(_ones(x, 3), _ones(w, 3)),
    "mse_loss": lambda x, w: F.mse_loss(_ones(x, 3), _ones(w, 3)),
    "where": lambda x, w: torch.where(_ones(torch.bool, 3), _ones(x, 3), _ones(w, 3)),
    "index_put": lambda x, w: _ones(x, 3).index_put((_ones(torch.int64, 2),), _ones(w, 2)),
    "index_add": lambda x, w: _ones(x, 3).index_add(0, _ones(torch.int64, 2), _ones(w, 2)),
    "scatter": lambda x, w: _ones(x, 3).scatter(0, _ones(torch.int64, 2), _ones(w, 2)),
    "gather": lambda x, w: _ones(x, 3).gather(0, _ones(w, 2)),
    "an index": lambda x, w: _ones(x, 3)[_ones(w, 2)],
    "masked_fill": lambda x, w: _ones(x, 3).masked_fill(_ones(w, 3), 1),
    "add_": lambda x, w: _ones(x, 3).add_(_ones(w, 3)),
    "lerp": lambda x, w: torch.lerp(_ones(x, 3), _ones(w, 3), 0.5),
    "solve": lambda x, w: torch.linalg.solve(torch.eye(2).to(x).cuda(), _ones(w, 2, 1)),
}


def pairs(name: str) -> Iterator[Case]:
    """Yield an input and a weight of each two of the twelve dtypes, and those of the younger ones that are alike."""
    for x in DTYPES:
        for w in DTYPES:
            if (x in TWELVE and w in TWELVE) or x is w:
                yield Case(name, 0, "pair", (x, w), functools.partial(PAIRS[name], x, w))


def ask(case: Case) -> dict[str, Any]:
    """Return the answer to one case: {"ok": dtypes of the results} or {"error": type, "message": text}."""
    try:
        result = case.call()
    except Exception as error:
        return {"error": type(error).__name__, "message": text(error)}
    leaves = tree_flatten(result)[0]
    return {"ok": [_told(x) for x in leaves if isinstance(x, torch.Tensor)]}


def _told(x: torch.Tensor) -> str:
    name = name_of(x.dtype)
    return name if x.device == torch.device("cuda:0") else f"{name} on {x.device}"
