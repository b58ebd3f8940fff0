"""Every operator of PyTorch's op_db, all its tensors on a simulated GPU: the CPU's values and gradients, on that GPU.

op_db bound the functions when it was imported, while no simulation ran, as a library does. Where the simulation puts
another function in the place of one, both are called: the one bound earlier and the one a program finds.

An operator that fails with "found at least two devices" though all its tensors are on one GPU makes a tensor inside:
its name goes into `_MAKE_TENSORS_INSIDE` (patches/composite.py). What cannot be compared goes into EXCEPTIONS.
"""

import functools
import itertools
import random
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy
import pytest
import torch
from torch.utils._pytree import tree_leaves, tree_map

from samedevice import simulate_cuda
from samedevice.simulation import session

HOME = "cuda:1"

UNDEFINED = "its values are undefined"
BOUND = "bound earlier, it asks this build of torch for a GPU"
# What is not compared, and why: the operator, then what of it.
EXCEPTIONS = {
    ("empty", "values"): UNDEFINED,
    ("empty_like", "values"): UNDEFINED,
    ("empty_permuted", "values"): UNDEFINED,
    ("empty_strided", "values"): UNDEFINED,
    ("new_empty", "values"): UNDEFINED,
    ("new_empty_strided", "values"): UNDEFINED,
    ("fft.ihfftn", "out="): "with out= of the result's size, its values are undefined on the CPU too",
    ("to", "bound"): BOUND,
    ("tensor_split", "arguments"): "it wants its indices on the CPU",
    ("histogram", "all"): "CUDA has no kernel for it",
    ("histogramdd", "all"): "CUDA has no kernel for it",
    ("sparse.mm", "all"): "its inputs are not strided",
    ("sparse.sampled_addmm", "all"): "its inputs are not strided",
    ("to_sparse", "all"): "its result is not strided",
}


class Call(NamedTuple):
    """One way to call an operator on one sample of its arguments."""

    name: str
    way: str
    function: Callable[..., Any]
    sample: Any
    without_cuda: bool  # op_db says that CUDA does not compute this dtype


class Outcome(NamedTuple):
    """What a call returned: the type, the tensors, and the gradients of its inputs."""

    type: type
    tensors: list[torch.Tensor]
    gradients: list[torch.Tensor | None]


def found(function: Any) -> Any:
    """What a program finds, while a simulation runs, by the name of a function that was bound earlier."""
    names = _replaced().get(id(function), ())
    return next((getattr(owner, name) for owner, name in names), function)


@functools.cache
def _replaced() -> dict[int, list[tuple[Any, str]]]:
    replaced: dict[int, list[tuple[Any, str]]] = {}
    for part in session._PARTS:
        for owner, name, _ in part.replacements():
            replaced.setdefault(id(getattr(owner, name, None)), []).append((owner, name))
    return replaced


def calls(dtype: torch.dtype, shard: int, shards: int) -> Iterator[Call]:
    # Here, since they take five seconds.
    from torch.testing._internal.common_methods_invocations import op_db

    from record.operators import sample_inputs

    for op in op_db[shard::shards]:
        if dtype not in op.dtypes or (op.name, "all") in EXCEPTIONS:
            continue
        name = f"{op.name}/{op.variant_test_name}" if op.variant_test_name else op.name
        seed()
        samples = sample_inputs(op, dtype, requires_grad=op.supports_autograd and dtype.is_floating_point)
        without_cuda = dtype not in op.dtypesIfCUDA
        for number, sample in enumerate(itertools.islice(samples, 2)):
            yield Call(name, "function", op.get_op(), sample, without_cuda)
            if number:
                continue
            if op.get_method():
                yield Call(name, "method", op.get_method(), sample, without_cuda)
            if op.get_inplace():
                yield Call(name, "inplace", op.get_inplace(), sample, without_cuda)
            if op.supports_out and (op.name, "out=") not in EXCEPTIONS:
                yield Call(name, "out=", op.get_op(), sample, without_cuda)
                yield Call(name, "out= of no size", op.get_op(), sample, without_cuda)


def seed() -> None:
    torch.manual_seed(0)
    random.seed(0)
    numpy.random.seed(0)


def tensors_in(x: object) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(x) if isinstance(leaf, torch.Tensor)]


def arguments_on(device: str, sample: Any, stay: bool) -> tuple[Any, Any, Any]:
    def there(x: object) -> object:
        if isinstance(x, torch.Tensor):
            return (x.detach().clone() if device == "cpu" else x.detach().to(device)).requires_grad_(x.requires_grad)
        return device if x == "cpu" or isinstance(x, torch.device) else x

    rest = (sample.args, sample.kwargs)
    return tree_map(there, sample.input), *(rest if stay else tree_map(there, rest))


def outcome(call: Call, device: str, function: Any, like: list[torch.Tensor] | None) -> Outcome:
    first, args, kwargs = arguments_on(device, call.sample, stay=(call.name, "arguments") in EXCEPTIONS)
    inputs = [x for x in tensors_in((first, args, kwargs)) if x.requires_grad]
    if like is not None:
        with torch.no_grad():
            sized = call.way == "out="
            given = tuple(
                torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=device)
                if sized
                else torch.empty(0, dtype=x.dtype, device=device)
                for x in like
            )
            seed()
            result = function(first, *args, **kwargs, out=given if len(given) > 1 else given[0])
            tensors = tensors_in(result)
            same = len(tensors) == len(given) and all(x is y for x, y in zip(tensors, given, strict=True))
            assert same, "the result is not the object given as out="
            return Outcome(type(result), tensors, [])
    if call.way == "inplace":
        first = first.clone() if isinstance(first, torch.Tensor) else [x.clone() for x in first]
    seed()
    result = function(first, *args, **kwargs)
    if call.way == "inplace" and isinstance(first, torch.Tensor):
        assert result is first, "the result is not the tensor that was changed"
    tensors = tensors_in(result)
    losses = [(x.abs() if x.is_complex() else x).sum() for x in tensors if x.requires_grad]
    gradients = torch.autograd.grad(losses, inputs, allow_unused=True) if losses and inputs else ()
    return Outcome(type(result), tensors, list(gradients))


def faults(name: str, got: Outcome, expected: Outcome) -> Iterator[str]:
    if got.type is not expected.type and not issubclass(expected.type, torch.Tensor):
        yield f"returns {got.type}, not {expected.type}"
    for kind, ours, theirs in (
        ("result", got.tensors, expected.tensors),
        ("gradient", got.gradients, expected.gradients),
    ):
        for x, y in zip(ours, theirs, strict=True):
            if x is None or y is None:
                if x is not y:
                    yield f"{kind} is {x}, not {y}"
            elif str(x.device) != HOME:
                yield f"{kind} is on {x.device}"
            elif (x.dtype, x.shape, x.requires_grad) != (y.dtype, y.shape, y.requires_grad):
                yield f"{kind} has {x.dtype}, {x.shape}, not {y.dtype}, {y.shape}"
            elif kind == "result" and (x.stride(), x.is_conj(), x.is_neg()) != (y.stride(), y.is_conj(), y.is_neg()):
                yield f"{kind} has another layout than on the CPU"
            elif (name, "values") not in EXCEPTIONS and not equal(x.cpu(), y):
                yield f"{kind} has other values"


def equal(x: torch.Tensor, y: torch.Tensor) -> bool:
    if x.dtype == torch.complex32:
        x, y = x.to(torch.complex64), y.to(torch.complex64)
    return torch.equal(x, y) or torch.allclose(x, y, equal_nan=True)


def on_the_cpu(all_calls: Iterator[Call]) -> Iterator[tuple[Call, Outcome, list[torch.Tensor] | None]]:
    """The calls that PyTorch answers on the CPU, and its answers: a few samples are meant for other dtypes."""
    for call in all_calls:
        like = None
        try:
            if call.way.startswith("out="):
                like = outcome(call._replace(way="function"), "cpu", call.function, None).tensors
                if not like:
                    continue  # a number, with which nothing can be allocated
            yield call, outcome(call, "cpu", call.function, like), like
        except (RuntimeError, AssertionError, TypeError):
            continue


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shard", range(4))
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64], ids=str)
def test_operators_on_one_gpu_give_the_cpus_values_and_gradients(dtype: torch.dtype, shard: int) -> None:
    wrong, seen, refused = [], 0, 0
    answered = list(on_the_cpu(calls(dtype, shard, 4)))
    _replaced()
    with simulate_cuda(devices=2):
        for call, expected, like in answered:
            seen += 1
            name = call.name.partition("/")[0]
            bound = () if _asks_for_a_gpu(call) or (name, "bound") in EXCEPTIONS else (call.function,)
            program = found(call.function)
            for function in (*bound, *(() if program in bound else (program,))):
                try:
                    got = outcome(call, HOME, function, like)
                    wrong.extend((call.name, call.way, fault) for fault in faults(name, got, expected))
                except Exception as error:
                    if call.without_cuda and _says_so(error):
                        refused += 1
                        continue
                    wrong.append((call.name, call.way, f"{type(error).__name__}: {error}"[:200]))
    assert not wrong
    assert seen > 500 if dtype.is_floating_point else 300
    assert refused < seen / 10


def _says_so(error: Exception) -> bool:
    """Whether this is what CUDA says of a dtype for which it has no kernel."""
    kernel, cudnn = r'"\w+" not implemented for \'Long\'', r"getCudnnDataTypeFromScalarType\(\) not supported for Long"
    return re.fullmatch(kernel if isinstance(error, NotImplementedError) else cudnn, str(error)) is not None


@pytest.mark.parametrize("function", [torch.linalg.pinv, torch.linalg.inv, torch.linalg.cond, torch.vdot, torch.cov])
def test_conjugated_views_inside_an_operator_are_resolved(function: Callable[..., torch.Tensor]) -> None:
    torch.manual_seed(0)
    matrix = torch.randn(3, 3, dtype=torch.complex64)
    inputs = (matrix[0], matrix[1].conj()) if function is torch.vdot else (matrix.mH,)
    expected = function(*inputs)
    with simulate_cuda(devices=2):
        got = function(*[x.to(HOME) for x in inputs])
        assert str(got.device) == HOME
        torch.testing.assert_close(got.cpu(), expected)


def _asks_for_a_gpu(call: Call) -> bool:
    return "cpu" in [x if isinstance(x, str) else str(x) for x in (call.sample.kwargs.get("device"), *call.sample.args)]
