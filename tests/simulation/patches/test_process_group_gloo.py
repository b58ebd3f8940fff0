"""torch.distributed with the backend gloo and tensors on a GPU: what CUDA's build refuses, and what it carries out."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import distributed as dist
from torch import nn
from torch.distributed import _functional_collectives as functional
from torch.nn.parallel import DistributedDataParallel

from samedevice.simulation.patches import process_group_gloo

pytestmark = [
    pytest.mark.skipif(not process_group_gloo.available, reason="this torch has no gloo"),
    pytest.mark.filterwarnings("ignore"),
]
NO_BACKEND = "No backend type associated with device type cuda"
OPTIONS = "layout=Strided, requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))"


def mismatch(name: str, *places: str) -> str:
    wanted, got = (f"TensorOptions(dtype=float, device={place}, {OPTIONS}" for place in places)
    return f"ProcessGroupGloo::{name}: invalid tensor type at index 0 (expected {wanted}, got {got})"


def begin(backend: str) -> Any:
    dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1)
    return dist.group.WORLD


@pytest.fixture(autouse=True)
def left_as_it_was(two_gpus: None) -> Iterator[None]:
    yield
    if dist.is_initialized():
        dist.destroy_process_group()


def g() -> torch.Tensor:
    return torch.ones(2, device="cuda")


def c() -> torch.Tensor:
    return torch.ones(2)


COLLECTIVES: dict[str, Callable[[], Any]] = {
    "all_reduce": lambda: dist.all_reduce(g()),
    "broadcast": lambda: dist.broadcast(g(), 0),
    "reduce": lambda: dist.reduce(g(), 0),
    "all_gather": lambda: dist.all_gather([g()], g()),
    "all_gather into the cpu": lambda: dist.all_gather([c()], g()),
    "all_gather_into_tensor": lambda: dist.all_gather_into_tensor(g(), g()),
    "gather": lambda: dist.gather(g(), [g()]),
    "scatter": lambda: dist.scatter(g(), [g()]),
    "reduce_scatter": lambda: dist.reduce_scatter(g(), [g()]),
    "all_to_all_single": lambda: dist.all_to_all_single(g(), g()),
    "all_to_all": lambda: dist.all_to_all([g()], [g()]),
    "isend": lambda: dist.isend(g(), 0),
    "all_reduce_coalesced": lambda: dist.all_reduce_coalesced([c(), g()]),
    "barrier": lambda: dist.barrier(device_ids=[0]),
    "broadcast_object_list": lambda: dist.broadcast_object_list(["x"], 0, device=torch.device("cuda")),
    "a method of the group": lambda: dist.group.WORLD.allreduce(g()),  # type: ignore[union-attr]
    "a functional one": lambda: functional.all_reduce(g(), "sum", dist.group.WORLD),
    "a functional one with a shape": lambda: functional.all_gather_tensor(g(), 0, dist.group.WORLD),
    "DistributedDataParallel": lambda: DistributedDataParallel(nn.Linear(2, 2).cuda()),
    "a group of the same backend": lambda: dist.all_reduce(g(), group=dist.new_group([0])),
}


@pytest.mark.parametrize("name", COLLECTIVES)
def test_a_group_of_the_cpu_refuses_tensors_on_a_gpu(name: str) -> None:
    begin("cpu:gloo")
    with pytest.raises(RuntimeError) as refused:
        COLLECTIVES[name]()
    assert str(refused.value) == NO_BACKEND


def test_a_group_of_the_cpu_works_on_the_cpu() -> None:
    begin("cpu:gloo")
    x = c()
    dist.all_reduce(x)
    dist.barrier()
    DistributedDataParallel(nn.Linear(2, 2))(torch.ones(1, 2)).sum().backward()
    gpu = g()
    dist.all_reduce(gpu, group=dist.new_group([0], backend="gloo"))
    assert (x.tolist(), gpu.tolist()) == ([1, 1], [1, 1])


def test_a_group_of_gpus_works_on_gpus_alone() -> None:
    begin("cuda:gloo")
    x, parts = g(), [torch.zeros(2, device="cuda")]
    dist.all_reduce(x)
    dist.all_gather(parts, x)
    dist.barrier()
    dist.all_gather_object([None], "x")
    DistributedDataParallel(nn.Linear(2, 2).cuda())(torch.ones(1, 2, device="cuda")).sum().backward()
    same = functional.all_reduce(x, "sum", dist.group.WORLD)
    assert (parts[0].tolist(), same.tolist(), str(same.device)) == ([1, 1], [1, 1], "cuda:0")
    with pytest.raises(RuntimeError, match=r"^No backend type associated with device type cpu$"):
        dist.all_reduce(c())


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "all_gather of a GPU into the CPU": (
        lambda: dist.all_gather([c()], g()), mismatch("allgather", "cuda:0", "cpu"),
    ),
    "all_gather of the CPU into a GPU": (
        lambda: dist.all_gather([g()], c()), mismatch("allgather", "cpu", "cuda:0"),
    ),
    "gather of a GPU into the CPU": (
        lambda: dist.gather(g(), [c()]), mismatch("gather", "cuda:0", "cpu"),
    ),
    "gather of the CPU into a GPU": (
        lambda: dist.gather(c(), [g()]), mismatch("gather", "cpu", "cuda:0"),
    ),
    "scatter of the CPU into a GPU": (
        lambda: dist.scatter(g(), [c()]), mismatch("scatter", "cuda:0", "cpu"),
    ),
    "scatter of a GPU into the CPU": (
        lambda: dist.scatter(c(), [g()]), mismatch("scatter", "cpu", "cuda:0"),
    ),
    "all_gather_into_tensor": (
        lambda: dist.all_gather_into_tensor(c(), g()),
        mismatch("allgather", "cuda:0", "cpu"),
    ),
    "all_gather_coalesced": (
        lambda: dist.all_gather_coalesced([[c()]], [g()]),
        "ProcessGroupGloo::allgather_coalesced: invalid tensor type at index 0 (expected torch.cuda.FloatTensor, got "
        "torch.FloatTensor)",
    ),
    "all_gather_coalesced of two devices": (
        lambda: dist.all_gather_coalesced([[g(), c()]], [g(), c()]),
        "ProcessGroupGloo::allgather_coalesced: tensors should be on the same device",
    ),
    "all_to_all_single": (
        lambda: dist.all_to_all_single(c(), g()), "output tensor and input tensor must be on the same type of device",
    ),
    "all_to_all": (
        lambda: dist.all_to_all([c()], [g()]),
        "ProcessGroupGloo::alltoall: input and output tensors must have the same type",
    ),
    "all_to_all of two GPUs": (
        lambda: dist.all_to_all([g()], [g().cuda(1)]), "input and output tensors must be on the same device",
    ),
    "all_reduce_coalesced of one GPU": (
        lambda: dist.all_reduce_coalesced([g(), g()]),
        "ProcessGroupGloo::allreduce_coalesced: unsupported device type cuda",
    ),
    "all_reduce_coalesced": (
        lambda: dist.all_reduce_coalesced([c(), g()]),
        "ProcessGroupGloo::allreduce_coalesced: tensors must all have the same type",
    ),
    "all_reduce_coalesced of two GPUs": (
        lambda: dist.all_reduce_coalesced([g(), g().cuda(1)]),
        "ProcessGroupGloo::allreduce_coalesced: tensors must all be on the same device",
    ),
    "a list of another length": (
        lambda: dist.all_gather([c(), c()], g()),
        "ProcessGroupGloo::allgather: invalid output tensor list at index 0 (expected length 1, got 2)",
    ),
    "another size": (
        lambda: dist.all_gather([torch.ones(3, device="cuda")], g()),
        "ProcessGroupGloo::allgather: invalid tensor size at index 0 (expected (2), got (3))",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_gloo_refuses_tensors_on_two_kinds_of_devices(name: str) -> None:
    begin("gloo")
    call, text = REFUSED[name]
    with pytest.raises(RuntimeError) as refused:
        call()
    assert str(refused.value) == text


def test_gloo_takes_several_gpus_and_reduces_into_either_device() -> None:
    begin("gloo")
    parts = [torch.zeros(2, device="cuda:1")]
    dist.all_gather(parts, g())
    on_cpu, on_gpu = torch.zeros(2), torch.zeros(2, device="cuda")
    dist.reduce_scatter_tensor(on_cpu, g())
    dist.reduce_scatter_tensor(on_gpu, c())
    assert (parts[0].tolist(), on_cpu.tolist(), on_gpu.tolist()) == ([1, 1], [1, 1], [1, 1])


def test_a_functional_collective_returns_what_waits_on_the_gpu_of_its_tensors() -> None:
    begin("gloo")
    sent = functional.all_reduce(g().cuda(1), "sum", dist.group.WORLD)
    assert type(sent).__name__ == "AsyncCollectiveTensor"
    assert (str(sent.device), sent.is_cuda, sent.get_device(), sent.type()) == (
        "cuda:1", True, 1, "torch.cuda.FloatTensor",
    )  # fmt: skip
    assert str(functional.all_gather_tensor(g(), 0, dist.group.WORLD).wait().device) == "cuda:0"  # type: ignore[attr-defined]
    assert (type(sent + 1), str((sent + 1).device), (sent + 1).tolist()) == (torch.Tensor, "cuda:1", [2, 2])
    assert str(sent.cpu().device) == "cpu"
    with pytest.raises(RuntimeError, match="found at least two devices, cuda:1 and cpu!"):
        sent + c()
