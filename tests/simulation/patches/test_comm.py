"""torch.cuda.comm, the functions of torch.nn.parallel and DataParallel on three GPUs."""

import re
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import distributed, nn
from torch.nn import parallel
from torch.nn.parallel import comm

from samedevice import simulate_cuda

Pair = namedtuple("Pair", "first second")


@pytest.fixture(autouse=True)
def three_gpus() -> Iterator[None]:
    with simulate_cuda(devices=3):
        yield


def cuda(index: int, *shape: int) -> torch.Tensor:
    return torch.ones(shape or (6, 2), device=f"cuda:{index}")


def places(x: Any) -> Any:
    """The devices of the tensors in a nest of them."""
    if isinstance(x, torch.Tensor):
        return f"{list(x.shape)} {x.device}"
    if isinstance(x, dict):
        return {key: places(value) for key, value in x.items()}
    return [places(item) for item in x] if isinstance(x, (list, tuple)) else x


# torch/csrc/cuda/comm.cpp, above it torch/nn/parallel/comm.py
REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "broadcast to the cpu": (lambda: comm.broadcast(cuda(1), ["cpu"]), "Expected a non cpu device, but got: cpu"),
    "broadcast to -1": (lambda: comm.broadcast(cuda(1), [-1]), "Expected non-negative device index, but got -1"),
    "broadcast out on the cpu": (
        lambda: comm.broadcast(cuda(1), out=[torch.ones(6, 2)]),
        "Expected all output tensors to be CUDA tensors, but output tensor at index 0 has device 'cpu'",
    ),
    "broadcast out of another shape": (
        lambda: comm.broadcast(cuda(1), out=[cuda(0), cuda(2, 3, 2)]),
        "Expected all output tensors to have same shape as the source tensor [6, 2], but output tensor at index 1 has "
        "shape [3, 2]",
    ),
    "broadcast coalesced from elsewhere": (
        lambda: comm.broadcast_coalesced([cuda(1), cuda(0)], [0, 1]),
        "All tensors must be on devices[0]: 0",
    ),
    "reduce_add from the cpu": (
        lambda: comm.reduce_add([cuda(0), torch.ones(6, 2)], 0),
        "reduce_add expects all inputs to be on GPUs, but input 1 is on CPU",
    ),
    "reduce_add to elsewhere": (
        lambda: comm.reduce_add([cuda(0), cuda(1)], 2),
        "reduce_add expects destination to be on the same GPU with one of the tensors",
    ),
    "scatter to nothing": (lambda: comm.scatter(cuda(0), []), "Expected at least one device to scatter to"),
    "scatter in other chunks": (
        lambda: comm.scatter(cuda(0), [0, 1, 2], [3, 3]),
        "Expected devices and chunk_sizes to be of same length, but got len(devices) = 3 and len(chunk_sizes) = 2",
    ),
    "scatter out of nothing": (
        lambda: comm.scatter(cuda(0), out=[]),
        "Expected at least one output tensor to scatter to",
    ),
    "scatter out of another shape": (
        lambda: comm.scatter(cuda(0), out=[cuda(1, 3, 2), cuda(2, 3, 3)]),
        "Output tensor at index 1 has incorrect shape: [3, 3]. Expected same shape except for scatter dim 0 as the "
        "source tensor: [6, 2]",
    ),
    "scatter out of another total": (
        lambda: comm.scatter(cuda(0), out=[cuda(1, 3, 2), cuda(2, 2, 2)]),
        "Total size for output tensors along scatter dim 0 does not match the source tensor size at dim 0. Expected 6, "
        "but got total size 5",
    ),
    "scatter on a stream of another gpu": (
        lambda: comm.scatter(cuda(0), [0, 1], streams=[None, torch.cuda.Stream(2)]),
        "Expected the device associated with the stream at index 1 (was \2) to match the device supplied at that index "
        "(expected 1)",
    ),
    "gather nothing": (lambda: comm.gather([]), "Expected at least one tensor to gather from"),
    "gather from the cpu": (
        lambda: comm.gather([cuda(0), torch.ones(6, 2)]),
        "Expected all input tensors to be CUDA tensors, but tensor at index 1 has device cpu",
    ),
    "gather other dimensions": (
        lambda: comm.gather([cuda(0), cuda(1, 6)]),
        "Expected all input tensors to have the same number of dimensions, but tensor at index 1has 1 dimensions, "
        "(expected 2)",
    ),
    "gather out of another shape": (
        lambda: comm.gather([cuda(0), cuda(1)], out=cuda(1, 11, 2)),
        "Expected out tensor to have shape [12, 2], but got [11, 2]",
    ),
    "gather dictionaries of other sizes": (
        lambda: parallel.gather([{"a": cuda(0)}, {"a": cuda(1), "b": cuda(1)}], 0),
        "All dicts must have the same number of keys",
    ),
    "nccl on one GPU": (
        lambda: torch.cuda.nccl.all_reduce([cuda(0), cuda(0)]),
        "inputs must be on unique devices",
    ),
    "nccl on the CPU": (
        lambda: torch.cuda.nccl.broadcast([torch.ones(2)]),
        "input and output elements have to be cuda dense Tensors",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_comm_refuses(case: str) -> None:
    use, text = REFUSED[case]
    with pytest.raises((RuntimeError, ValueError, AssertionError)) as refusal:
        use()
    assert str(refusal.value) == text


def test_broadcast_copies_and_leaves_what_is_there() -> None:
    x = cuda(1)
    here, there = comm.broadcast(x, [1, 0])
    assert here is x
    assert (str(there.device), there.tolist()) == ("cuda:0", x.tolist())
    assert places(comm.broadcast(torch.ones(2), [0, 2])) == ["[2] cuda:0", "[2] cuda:2"]
    first, second = comm.broadcast_coalesced([cuda(0, 2, 3).t(), cuda(0, 3).long()], [0, 1])
    assert places(second) == ["[3, 2] cuda:1", "[3] cuda:1"]
    assert (first[0].is_contiguous(), second[0].is_contiguous()) == (False, True)


@pytest.mark.parametrize("is_coalesced", [False, True])
@pytest.mark.filterwarnings("ignore:Sparse invariant checks")
def test_broadcast_copies_sparse_tensors(is_coalesced: bool) -> None:
    indices, values = torch.tensor([[0, 1], [1, 0]]), torch.tensor([1.0, 2.0])
    x = torch.sparse_coo_tensor(indices, values, (2, 2), is_coalesced=is_coalesced).cuda()
    dense = torch.ones(3, device="cuda")
    single, together = comm.broadcast(x, [0, 1]), comm.broadcast_coalesced([x, dense], [0, 1])
    assert single[0] is x
    for copied in (single[1], together[1][0]):
        assert (str(copied.device), copied.layout, copied.is_coalesced()) == ("cuda:1", x.layout, is_coalesced)
        assert copied.to_dense().tolist() == [[0, 1], [2, 0]]
    assert str(together[1][1].device) == "cuda:1"
    with pytest.raises(NotImplementedError, match=r"^Could not run 'aten::as_strided' with arguments from the"):
        comm.gather([x, x.cuda(1)])


def test_reduce_add_sums_on_the_destination() -> None:
    total = comm.reduce_add([cuda(0), cuda(1), cuda(2)], "cuda:2")
    assert (str(total.device), total.unique().tolist()) == ("cuda:2", [3])
    parts = comm.reduce_add_coalesced([[cuda(0), cuda(0, 3).long()], [cuda(1), cuda(1, 3).long()]], 1)
    assert places(parts) == ["[6, 2] cuda:1", "[3] cuda:1"]
    assert parts[1].tolist() == [2, 2, 2]


def test_scatter_and_gather_are_inverse() -> None:
    x = torch.arange(12.0).view(6, 2)
    for source in (x, x.cuda(1)):
        for options in ({}, {"dim": 1}, {"dim": -1}, {"chunk_sizes": [1, 5]}):
            chunks = comm.scatter(source, [0, 1], **options)
            assert [chunk.device.index for chunk in chunks] == [0, 1]
            assert torch.equal(comm.gather(chunks, options.get("dim", 0), "cpu"), x)
    out = cuda(1, 3, 2), cuda(2, 3, 2)
    assert comm.scatter(x, out=out)[1] is out[1]
    assert torch.equal(comm.gather(out, out=torch.empty(6, 2)), x)
    images = [cuda(index, 2, 3, 4, 4).to(memory_format=torch.channels_last) for index in (0, 1)]
    assert comm.gather(images).is_contiguous(memory_format=torch.channels_last)


def test_functions_cut_and_join_nests_of_tensors() -> None:
    x = torch.ones(6, 2)
    assert places(parallel.scatter({"x": x, "list": [x, "text"], "none": None}, [0, 1])) == [
        {"x": f"[3, 2] cuda:{i}", "list": [f"[3, 2] cuda:{i}", "text"], "none": None} for i in (0, 1)
    ]
    first, _ = parallel.scatter(Pair(x, x), [0, 1])
    assert isinstance(first, Pair)
    joined = parallel.gather([Pair(cuda(0), (cuda(0), None)), Pair(cuda(1), (cuda(1), None))], 2)
    assert places(joined) == ["[12, 2] cuda:2", ["[12, 2] cuda:2", None]]


def test_gradients_pass_through_scatter_and_gather() -> None:
    x = torch.ones(6, 2, device="cuda:2", requires_grad=True)
    parallel.gather(
        [chunk * (index + 1) for index, chunk in enumerate(parallel.scatter(x, [0, 1]))], 1
    ).sum().backward()
    assert (str(x.grad.device), x.grad[:, 0].tolist()) == ("cuda:2", [1, 1, 1, 2, 2, 2])


class Calls(nn.Module):
    """A module with a parameter and a buffer whose forward is given."""

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.unused = nn.Parameter(torch.ones(3))
        self.register_buffer("seen", torch.zeros(1))
        self.function = function

    def forward(self, *args: Any, **kwargs: Any) -> object:
        return self.function(self, *args, **kwargs)


def replicated(function: Callable[..., object], *ids: int, **options: Any) -> nn.DataParallel:
    return nn.DataParallel(Calls(function).cuda(ids[0] if ids else 0), device_ids=list(ids) or None, **options)


BATCH = torch.ones(6, 2)
RETURNED: dict[str, tuple[Callable[[], object], object]] = {
    "all gpus": (lambda: replicated(lambda m, x: x * m.weight)(BATCH), "[6, 2] cuda:0"),
    "another first gpu": (lambda: replicated(lambda m, x: x * m.weight, 1, 0)(BATCH), "[6, 2] cuda:1"),
    "output_device": (lambda: replicated(lambda m, x: x, 0, 1, output_device=2)(BATCH), "[6, 2] cuda:2"),
    "a small batch": (lambda: replicated(lambda m, x: x)(BATCH[:2]), "[2, 2] cuda:0"),
    "one gpu": (lambda: replicated(lambda m, x: x * m.weight, 0)(BATCH), "[6, 2] cuda:0"),
    "dim=1": (lambda: replicated(lambda m, x: x, 0, 1, dim=1)(BATCH), "[6, 2] cuda:0"),
    "no input": (lambda: replicated(lambda m: m.weight, 0, 1)(), "[2] cuda:0"),
    "keywords": (
        lambda: replicated(lambda m, x: {"x": x, "rest": [x, (x, None)]}, 0, 1)(x=BATCH),
        {"x": "[6, 2] cuda:0", "rest": ["[6, 2] cuda:0", ["[6, 2] cuda:0", None]]},
    ),
    "bare cuda": (lambda: replicated(lambda m, x: x * torch.ones(2, device="cuda"), 0, 1)(BATCH), "[6, 2] cuda:0"),
}


@pytest.mark.parametrize("case", RETURNED)
def test_data_parallel_returns(case: str) -> None:
    use, expected = RETURNED[case]
    assert places(use()) == expected


def test_gradients_of_three_replicas_are_the_cpus_and_the_unused_are_zero() -> None:
    x = torch.arange(14.0).view(7, 2)
    alone, model = Calls(lambda m, x: (x * m.weight).square()), replicated(lambda m, x: (x * m.weight).square())
    alone(x).sum().backward()
    model(x).sum().backward()
    assert str(model.module.weight.grad.device) == "cuda:0"
    assert torch.equal(model.module.weight.grad.cpu(), alone.weight.grad)
    assert model.module.unused.grad.tolist() == [0, 0, 0]


def test_buffers_change_on_the_first_gpu_alone_and_attributes_nowhere() -> None:
    def forward(m: Any, x: torch.Tensor) -> torch.Tensor:
        m.seen += len(x)
        m.last = x
        return x

    model = replicated(forward, 0, 1)
    model(BATCH)
    assert (model.module.seen.item(), hasattr(model.module, "last")) == (3, False)


def test_scalars_are_gathered_into_a_vector_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="all input tensors were scalars; will instead unsqueeze and return a vector"):
        assert replicated(lambda m, x: x.sum(), 0, 1)(BATCH).tolist() == [6, 6]


def frames(text: str) -> list[str]:
    return re.findall(r"line \d+, in (\w+|<lambda>)", text)


def test_an_error_of_a_replica_shows_pytorchs_and_the_programs_frames() -> None:
    with pytest.raises(RuntimeError) as refusal:
        replicated(lambda m, x: x * torch.ones(2, device="cuda:0"), 0, 1)(BATCH)
    text = str(refusal.value)
    assert text.startswith(
        "Caught RuntimeError in replica 1 on device 1.\nOriginal Traceback (most recent call last):\n"
    )
    assert frames(text) == ["_worker", "_wrapped_call_impl", "_call_impl", "forward", "<lambda>"]
    assert text.endswith(
        "\nRuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:1 and "
        "cuda:0!\n"
    )


def test_a_replica_has_no_parameters_to_ask_for_its_device() -> None:
    with pytest.raises(StopIteration, match="Caught StopIteration in replica 0 on device 0"):
        replicated(lambda m, x: x.to(next(m.parameters()).device), 0, 1)(BATCH)


def test_nccl_is_there_and_computes_between_gpus() -> None:
    assert torch.distributed.is_nccl_available()
    assert torch.distributed.is_backend_available("nccl")
    assert torch.cuda.nccl.version() >= (2, 20)
    assert len(torch.cuda.nccl.unique_id()) == 128
    one, other = torch.full((2,), 1.0, device="cuda:0"), torch.full((2,), 2.0, device="cuda:1")
    assert torch.cuda.nccl.is_available([one, other])
    assert not torch.cuda.nccl.is_available([one, one])
    assert not torch.cuda.nccl.is_available([one.cpu()])
    gathered = [torch.empty(4, device="cuda:0"), torch.empty(4, device="cuda:1")]
    torch.cuda.nccl.all_gather([one, other], gathered)
    assert [x.tolist() for x in gathered] == [[1, 1, 2, 2], [1, 1, 2, 2]]
    scattered = [torch.empty(1, device="cuda:0"), torch.empty(1, device="cuda:1")]
    torch.cuda.nccl.reduce_scatter([one, other], scattered)
    assert [x.tolist() for x in scattered] == [[3], [3]]
    torch.cuda.nccl.all_reduce([one, other])
    assert (one.tolist(), other.tolist(), str(other.device)) == ([3, 3], [3, 3], "cuda:1")
    torch.cuda.nccl.broadcast([one.zero_(), other])
    assert other.tolist() == [0, 0]
    assert comm.reduce_add([one + 1, other + 2]).tolist() == [3, 3]


@pytest.mark.skipif(not distributed.is_available(), reason="this torch has no torch.distributed")
def test_weights_that_are_sharded_over_gpus_say_so() -> None:
    cuda(0)  # PyTorch imports DTensor here
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        mesh = init_device_mesh("cuda", (1,))
        model = torch.nn.Linear(2, 2).cuda()
        fully_shard(model, mesh=mesh)
        weight = model.weight
        assert (str(weight.device), weight.is_cuda, weight.is_cpu, weight.get_device()) == ("cuda:0", True, False, 0)
        optimizer = torch.optim.Adam(model.parameters())
        model(torch.ones(1, 2, device="cuda")).sum().backward()
        optimizer.step()
        assert weight.grad is not None
        assert str(weight.grad.device) == "cuda:0"
        assert str(optimizer.state[weight]["exp_avg"].device) == "cuda:0"
    finally:
        distributed.destroy_process_group()


@pytest.mark.skipif(not distributed.is_available(), reason="this torch has no torch.distributed")
def test_a_dtensor_moves_with_its_part_and_its_gradient_comes_back() -> None:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Shard

    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        part = torch.ones(2, device="cuda")
        there = DTensor.from_local(part, init_device_mesh("cuda", (1,)), [Shard(0)]).requires_grad_()
        for moved, device in ((there.cpu(), "cpu"), (there.cuda(1), "cuda:1"), (there.to("cpu").cuda(), "cuda:0")):
            assert isinstance(moved, DTensor)
            assert (str(moved.device), str(moved.to_local().device)) == (device, device)
        (there.cpu() * 2).sum().backward()
        assert there.grad is not None
        assert str(there.grad.device) == "cuda:0"
    finally:
        distributed.destroy_process_group()
