"""Every operator of PyTorch's op_db, all its tensors on one simulated GPU: no false error, the CPU's own values."""

import itertools
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch
from torch.utils._pytree import tree_leaves, tree_map

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what PyTorch's own test code warns of is not ours
    from torch.testing._internal.common_methods_invocations import op_db

from samedevice import simulate_cuda
from samedevice.simulation import composites

COMPOSITES = list(composites.replacements())

# Compiled for a GPU when called, of undefined values, or not strided.
NOT_SIMULATED = ("jiterator", "empty", "sparse", "resize", "sampled_addmm", "mm_reduce")
OPS = [
    op for op in op_db
    if torch.float32 in op.dtypes and not any(word in op.name for word in NOT_SIMULATED)
    and op.variant_test_name != "partial_views"  # a view that is moved is copied without the rest of its memory
]  # fmt: skip


def as_a_program_finds_it(function: Any) -> Any:
    """op_db bound the functions when it was imported; a program looks them up while the simulation runs."""
    for owner, name, replacement in COMPOSITES:
        if replacement.__wrapped__ is function:
            return getattr(owner, name)
    return function


def anew(x: object) -> object:
    return x.detach().clone().requires_grad_(x.requires_grad) if isinstance(x, torch.Tensor) else x


def on_gpu(x: object) -> object:
    if isinstance(x, torch.Tensor):
        return x.detach().cuda().requires_grad_(x.requires_grad)
    return "cuda:0" if isinstance(x, torch.device) else x


def equal(x: torch.Tensor, y: torch.Tensor) -> bool:
    if x.dtype == torch.complex32:
        x, y = x.to(torch.complex64), y.to(torch.complex64)
    return torch.equal(x, y) or torch.allclose(x, y, equal_nan=True)


def seed() -> None:
    torch.manual_seed(0)
    random.seed(0)
    numpy.random.seed(0)


def results(function: Callable[..., object], arguments: tuple[Any, ...]) -> list[torch.Tensor | None]:
    """What the operator returns, then the gradients of its inputs."""
    seed()
    first, args, kwargs = arguments
    returned = [x for x in tree_leaves(function(first, *args, **kwargs)) if isinstance(x, torch.Tensor)]
    inputs = [x for x in tree_leaves(arguments) if isinstance(x, torch.Tensor) and x.requires_grad]
    losses = [(x.abs() if x.is_complex() else x).sum() for x in returned if x.requires_grad]
    gradients = torch.autograd.grad(losses, inputs, allow_unused=True) if losses and inputs else ()
    return [*returned, *gradients]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", range(8))
def test_ops_on_one_gpu_give_the_cpus_values_and_gradients(first: int) -> None:
    wrong = []
    for op in OPS[first::8]:
        seed()
        for sample in itertools.islice(op.sample_inputs("cpu", torch.float32, requires_grad=op.supports_autograd), 2):
            arguments = (sample.input, sample.args, sample.kwargs)
            tensors = [x for x in tree_leaves(arguments) if isinstance(x, torch.Tensor)]
            if not tensors or any(x.layout != torch.strided for x in tensors):
                continue
            expected = results(op.op, tree_map(anew, arguments))
            with simulate_cuda(devices=1):
                try:
                    got = results(as_a_program_finds_it(op.op), tree_map(on_gpu, arguments))
                except Exception as error:
                    wrong.append((op.name, op.variant_test_name, str(error)[:200]))
                    continue
                for x, y in zip(got, expected, strict=True):
                    if (x is None) != (y is None) or (x is not None and not equal(x.cpu(), y)):
                        wrong.append((op.name, op.variant_test_name, "values differ"))
                    elif x is not None and x.device.type != "cuda" and op.name != "to":
                        wrong.append((op.name, op.variant_test_name, f"is on {x.device}"))
    assert not wrong
