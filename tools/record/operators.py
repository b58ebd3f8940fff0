"""Questions about operators: op_db's own sample inputs, with their tensors placed together and apart.

One case is an operator, one of its samples, a kind of call (call, inplace, out=DEVICE, backward) and a device for each
tensor; its answer is the devices of the results, or the error. Recording and replaying go through `ask`, so they cannot
drift apart; the samples come from fixed seeds, and a case names their shapes, so that one that another version of torch
makes differently is left out, not misjudged.
"""

import contextlib
import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from unittest import mock

import numpy
import torch
from torch.testing._internal import common_utils
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo import core
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from record.errors import text

OPERATORS = {(op.name, op.variant_test_name): op for op in op_db}
# One of these suits every operator; most take the first.
_DTYPES = (torch.float32, torch.int64, torch.complex64, torch.float16, torch.bfloat16, torch.float8_e4m3fn)
_LOOKED_AT, _MOST = 61, 6


class Sample(NamedTuple):
    """One of an operator's sample inputs."""

    number: int
    flat: list[Any]
    spec: Any

    @property
    def tensors(self) -> list[torch.Tensor]:
        return [x for x in self.flat if isinstance(x, torch.Tensor)]

    @property
    def shapes(self) -> list[list[int]]:
        return [list(tensor.shape) for tensor in self.tensors]

    def placed(
        self, devices: list[str], requires_grad: bool = False
    ) -> tuple[list[Any], Any, list[Any], dict[str, Any]]:
        """Return the leaves with each tensor on its device, and from them the input, the arguments and the keywords."""
        device = iter(devices)
        leaves: list[Any] = []
        for x in self.flat:
            if isinstance(x, torch.Tensor):
                x = x.detach().clone().to(next(device))
                if requires_grad and x.is_floating_point():
                    x = x.detach().requires_grad_()
            elif isinstance(x, torch.device):
                x = torch.device(devices[0])
            leaves.append(x)
        return leaves, *tree_unflatten(leaves, self.spec)


def sample_inputs(op: Any, dtype: torch.dtype, requires_grad: bool) -> Iterator[Any]:
    """Return an operator's own sample inputs, on the CPU.

    For each operator PyTorch looks for the running unittest in all the frames of the stack. Here no unittest runs, and
    the search takes four fifths of the time. And before each sample it seeds the generators of all kinds of devices;
    where there is no such device, it keeps a traceback of that instead, which takes nine tenths of the rest.
    """
    with contextlib.ExitStack() as unsearched:
        for module in (common_utils, core):
            unsearched.enter_context(mock.patch.object(module, "extract_test_fn", lambda: None))
        samples = iter(op.sample_inputs("cpu", dtype, requires_grad=requires_grad))
    return _with_the_cpu_seeded(samples)


def _with_the_cpu_seeded(samples: Iterator[Any]) -> Iterator[Any]:
    """Yield the same samples, each made with the seed that PyTorch gives it, but seed the CPU alone."""
    end = object()
    while True:
        with mock.patch.object(common_utils, "set_rng_seed", _seed):
            sample = next(samples, end)
        if sample is end:
            return
        yield sample


def _seed(seed: int = common_utils.SEED) -> None:
    torch.default_generator.manual_seed(seed)
    random.seed(seed)
    numpy.random.seed(seed)


def samples(op: Any) -> Iterator[Sample]:
    """Yield the samples of an operator, on the CPU, always the same in one version of torch."""
    dtype = next((dtype for dtype in _DTYPES if dtype in op.dtypes), None)
    if dtype is None:
        return
    _seed(0)
    for index, sample in enumerate(itertools.islice(sample_inputs(op, dtype, requires_grad=False), _LOOKED_AT)):
        yield Sample(index, *tree_flatten((sample.input, list(sample.args), dict(sample.kwargs))))


def different(op: Any) -> list[Sample]:
    """Return the first few samples that differ in more than sizes: in ranks, keywords or the types of arguments."""
    chosen: dict[Any, Sample] = {}
    for sample in samples(op):
        tensors = sample.tensors
        if 1 <= len(tensors) <= 6 and all(tensor.layout is torch.strided for tensor in tensors):
            form = str(sample.spec), tuple(t.dim() for t in tensors), tuple(type(x) for x in sample.flat)
            chosen.setdefault(form, sample)
            if len(chosen) == _MOST:
                break
    return list(chosen.values())


def placements(count: int, gpus: int) -> list[list[str]]:
    """Return where `count` tensors may be: together on a GPU; one of them elsewhere; one of them alone on a GPU."""
    found = [["cuda:0"] * count]
    for i in range(count if count > 1 else 0):
        for alone, rest in (("cpu", "cuda:0"), ("cuda:1", "cuda:0"), ("cuda:0", "cpu"))[:: 1 if gpus > 1 else 2]:
            placement = [rest] * count
            placement[i] = alone
            if placement not in found:
                found.append(placement)
    return found


def kinds(op: Any, sample: Sample, gpus: int) -> Iterator[tuple[str, list[str]]]:
    """Yield every (kind of call, placement) that is asked of a sample."""
    count = len(sample.tensors)
    for placement in placements(count, gpus):
        yield "call", placement
    if op.inplace_variant:
        for placement in placements(count, gpus):
            yield "inplace", placement
    if op.supports_out:
        for out, rest in (("cuda:0", "cuda:0"), ("cpu", "cuda:0"), ("cuda:1", "cuda:0"), ("cuda:0", "cpu")):
            if gpus > 1 or "cuda:1" not in (out, rest):
                yield f"out={out}", [rest] * count
    if op.supports_autograd:
        for placement in placements(count, gpus):
            yield "backward", placement


def ask(op: Any, sample: Sample, kind: str, placement: list[str], reference: Any = None) -> dict[str, Any]:
    """Return the answer to one case: {"ok": devices of the results} or {"error": type, "message": text}."""
    try:
        return {"ok": devices(op, sample, kind, placement, reference)}
    except Exception as error:
        return {"error": type(error).__name__, "message": text(error)}


def devices(op: Any, sample: Sample, kind: str, placement: list[str], reference: Any = None) -> list[str]:
    """Return the devices of the results of one case, or its error.

    For out=, `reference` is the operator's result on the CPU. For backward, the devices are those of the gradients.
    """
    leaves, first, args, kwargs = sample.placed(placement, requires_grad=kind == "backward")
    function: Callable[..., Any] = op.inplace_variant if kind == "inplace" else op.op
    if kind.startswith("out="):
        like = [torch.empty_like(x).to(kind[4:]) for x in tree_leaves(reference)]
        kwargs = kwargs | {"out": like[0] if isinstance(reference, torch.Tensor) else tuple(like)}
    result = function(first, *args, **kwargs)
    if kind == "backward":
        torch.autograd.backward([x.sum() for x in tree_leaves(result) if getattr(x, "requires_grad", False)])
        result = [x.grad for x in leaves if isinstance(x, torch.Tensor) and x.grad is not None]
    return [str(x.device) for x in tree_leaves(result) if isinstance(x, torch.Tensor)]


def reference(op: Any, sample: Sample) -> Any:
    """Return the result on the CPU: a tensor, a tuple of tensors, or None where out= cannot be asked."""
    _, first, args, kwargs = sample.placed(["cpu"] * len(sample.tensors))
    try:
        result = op.op(first, *args, **kwargs)
    except Exception:
        return None
    fits = isinstance(result, torch.Tensor) or (
        isinstance(result, tuple) and all(isinstance(x, torch.Tensor) for x in result)
    )
    return result if fits else None
