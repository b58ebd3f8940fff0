"""torch.distributed with the backend nccl: groups as on CUDA, and what NCCL refuses in PyTorch's words.

Two processes train in tests/command_line/test_command_run.py and tests/pytest_plugin/test_plugin_distributed.py.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from samedevice import simulate_cuda
from samedevice.simulation import state
from samedevice.simulation.patches import process_group_nccl
from samedevice.simulation.tensor import operators

pytestmark = [
    pytest.mark.skipif(not process_group_nccl._available, reason="this torch has no gloo"),
    pytest.mark.filterwarnings("ignore"),
]
# From torch 2.15 on, a group of NCCL is bound to the rank's own GPU where none is named.
NCCL2 = torch.__version__ >= "2.15"
OPTIONS = "layout=Strided, requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))"


def begin(backend: str | None = "nccl", **options: Any) -> Any:
    dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1, **options)
    return dist.group.WORLD


@pytest.fixture(autouse=True)
def left_as_it_was(two_gpus: None) -> Iterator[None]:
    yield
    if dist.is_initialized():
        dist.destroy_process_group()


def on_gpu(*shape: int) -> torch.Tensor:
    return torch.ones(shape or (2,), device="cuda")


@pytest.mark.parametrize(
    ("backend", "device", "says"),
    [
        ("nccl", None, ("nccl", "cuda:nccl", ["cuda"], "cuda")),
        (None, None, ("undefined", "cuda:nccl", ["cuda"], "cuda")),
        (None, "cuda:1", ("nccl", "cuda:nccl", ["cuda"], "cuda")),
        ("cpu:gloo,cuda:nccl", None, ("cpu:gloo,cuda:nccl", "cpu:gloo,cuda:nccl", ["cpu", "cuda"], "cpu")),
    ],
)
def test_a_group_says_of_itself_what_it_says_on_cuda(backend: str | None, device: str | None, says: Any) -> None:
    group = begin(backend, device_id=device and torch.device(device))
    kinds = sorted(kind.type for kind in group._device_types)
    objects = dist.distributed_c10d._get_object_coll_device()
    assert (dist.get_backend(), dist.get_backend_config(), kinds, objects) == says
    assert group._get_backend(torch.device("cuda")).name() == "nccl"
    assert type(group._get_backend(torch.device("cuda"))) is dist.ProcessGroupNCCL
    assert str(group.bound_device_id) == str(device or ("cuda:0" if NCCL2 else None))


def test_nccl_is_there_while_gpus_are_simulated() -> None:
    assert dist.is_nccl_available()
    assert dist.is_backend_available("nccl")
    assert dist.distributed_c10d.default_pg_nccl_timeout.total_seconds() == 600
    assert torch.cuda.nccl.version() >= (2, 10)


def test_groups_of_several_backends_stand_side_by_side() -> None:
    begin()
    group, of_the_cpu = dist.new_group([0], backend="nccl"), dist.new_group([0], backend="gloo")
    assert (dist.get_backend(group), dist.get_backend(of_the_cpu)) == ("nccl", "gloo")
    dist.all_reduce(on_gpu(), group=group)
    dist.all_reduce(torch.ones(2), group=of_the_cpu)
    dist.all_reduce(on_gpu(), group=of_the_cpu)
    options = dist.ProcessGroupNCCL.Options(is_high_priority_stream=True)
    dist.all_reduce(on_gpu(), group=dist.new_group([0], pg_options=options))
    dist.destroy_process_group(group)
    dist.all_reduce(on_gpu())


def test_collectives_return_on_the_gpu() -> None:
    begin()
    x, listed, out = on_gpu(), [torch.zeros(2, device="cuda:1")], torch.zeros(2, device="cuda")
    assert dist.all_reduce(x) is None
    dist.broadcast(x, 0)
    dist.all_gather(listed, x)
    dist.all_gather_into_tensor(out, x)
    dist.reduce_scatter_tensor(out, x)
    dist.all_to_all_single(out, x)
    dist.scatter(out, [x])
    work = dist.all_reduce(out, op=dist.ReduceOp.AVG, async_op=True)
    work.wait()
    dist.barrier()
    dist.barrier(device_ids=[1])
    objects: list[Any] = [None]
    dist.all_gather_object(objects, {"x": x})
    assert (listed[0].tolist(), out.tolist(), str(out.device)) == ([1, 1], [1, 1], "cuda:0")
    assert str(objects[0]["x"].device) == "cuda:0"
    reduced = torch.ops._c10d_functional.wait_tensor(torch.ops._c10d_functional.all_reduce(x, "sum", "0"))
    assert (reduced.tolist(), str(reduced.device)) == ([1, 1], "cuda:0")


NO_CPU = "No backend type associated with device type cpu"
DENSE = "Tensors must be CUDA and dense"
# Recorded of PyTorch's CUDA build.
REFUSED: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "all_reduce": (lambda: dist.all_reduce(torch.ones(2)), RuntimeError, NO_CPU),
    "broadcast": (lambda: dist.broadcast(torch.ones(2), 0), RuntimeError, NO_CPU),
    "all_gather": (lambda: dist.all_gather([on_gpu()], torch.ones(2)), RuntimeError, NO_CPU),
    "functional": (
        lambda: torch.ops._c10d_functional.all_reduce(torch.ones(2), "sum", "0"),
        RuntimeError,
        NO_CPU,
    ),
    "a model on the CPU": (lambda: DistributedDataParallel(nn.Linear(2, 2)), RuntimeError, NO_CPU),
    "a model with a buffer on the CPU": (lambda: DistributedDataParallel(half_moved()), RuntimeError, NO_CPU),
    "into": (lambda: dist.all_gather_into_tensor(torch.ones(2), on_gpu()), ValueError, DENSE),
    "to": (lambda: dist.all_to_all([on_gpu()], [torch.ones(2)]), ValueError, DENSE),
    "single": (lambda: dist.all_to_all_single(on_gpu(), torch.ones(2)), ValueError, DENSE),
    "sparse": (
        lambda: dist.all_reduce(torch.eye(2).to_sparse().cuda()),
        RuntimeError,
        "NCCL does not support all_reduce with sparse tensors. Please use dense tensors instead.",
    ),
    "transposed": (lambda: dist.all_reduce(on_gpu(3, 2).t()), ValueError, "Tensors must be contiguous"),
    "scatter": (
        lambda: dist.scatter(on_gpu(), [torch.ones(2)]),
        ValueError,
        "ProcessGroupNCCL::scatter: invalid tensor type at index 0 (expected TensorOptions(dtype=float, "
        f"device=cuda:0, {OPTIONS}, got TensorOptions(dtype=float, device=cpu, {OPTIONS})",
    ),
    "gather": (
        lambda: dist.gather(on_gpu().long(), [torch.ones(2).long()]),
        ValueError,
        "ProcessGroupNCCL::gather: invalid tensor type at index 0 (expected TensorOptions(dtype=long int, "
        f"device=cuda:0, {OPTIONS}, got TensorOptions(dtype=long int, device=cpu, {OPTIONS})",
    ),
    "another size": (
        lambda: dist.scatter(on_gpu(), [on_gpu(3)]),
        ValueError,
        "ProcessGroupNCCL::scatter: invalid tensor size at index 0 (expected (2), got (3))",
    ),
    "monitored_barrier": (
        lambda: dist.monitored_barrier(),
        ValueError,
        "monitored_barrier requires a group with a CPU-capable backend (e.g. GLOO)."
        if torch.__version__ >= "2.14"
        else "monitored_barrier is only implemented for GLOO backend.",
    ),
}
if not NCCL2:
    REFUSED["split_group"] = (
        lambda: dist.split_group(split_ranks=[[0]]),
        RuntimeError,
        "No device associated with the default pg, not safe to split any process groups",
    )


def half_moved() -> nn.Module:
    model = nn.BatchNorm1d(2).cuda()
    model.running_mean = torch.zeros(2)
    return model


@pytest.mark.parametrize("case", REFUSED)
def test_what_nccl_refuses(case: str) -> None:
    program, kind, says = REFUSED[case]
    begin()
    with pytest.raises(kind) as refusal:
        program()
    assert str(refusal.value) == says


def test_a_barrier_on_a_gpu_that_is_not_there() -> None:
    begin()
    with pytest.raises(torch.AcceleratorError, match="invalid device ordinal"):
        dist.barrier(device_ids=[5])


def test_without_a_visible_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with simulate_cuda(1), pytest.raises(RuntimeError if NCCL2 else ValueError) as refusal:
        begin()
    assert str(refusal.value) == (
        "nccl2 requires at least one CUDA device"
        if NCCL2
        else "ProcessGroupNCCL is only supported with GPUs, no GPUs found!"
    )


def test_a_group_for_both_takes_tensors_of_both() -> None:
    begin("cpu:gloo,cuda:nccl")
    for device in ("cpu", "cuda"):
        x = torch.ones(2, device=device)
        dist.all_reduce(x)
        assert x.device.type == device


@pytest.mark.parametrize("backend", ["nccl", "gloo"])
def test_a_communication_hook_sees_gradients_on_the_gpu(backend: str) -> None:
    begin(backend)
    seen = []

    def double(state: Any, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
        places = str(bucket.buffer().device), str(bucket.gradients()[0].device)
        seen.append((*places, bucket.index(), torch.cuda.current_device()))
        bucket.set_buffer(bucket.buffer() + 0)
        future: torch.futures.Future[torch.Tensor] = torch.futures.Future()
        future.set_result(bucket.buffer() * 2)
        return future

    model = DistributedDataParallel(nn.Linear(2, 1).cuda(1), device_ids=[1])
    model.register_comm_hook(None, double)
    model(torch.tensor([[1.0, 2.0]])).sum().backward()
    assert seen == [("cuda:1", "cuda:1", 0, 1)]
    assert torch.cuda.current_device() == 0
    gradient = model.module.weight.grad
    assert (gradient.tolist(), str(gradient.device)) == ([[2, 4]], "cuda:1")


def test_it_is_said_once_at_the_programs_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_group_nccl, "_told", False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        begin()
        dist.new_group([0], backend="nccl")
    (said,) = (one for one in caught if "samedevice" in str(one.message))
    expected = "samedevice: gloo does the work of NCCL, on the CPU: results are as on CUDA, speed is not."
    assert (str(said.message), said.filename) == (expected, __file__)


def test_only_collectives_are_looked_at_and_none_after_the_simulation() -> None:
    assert operators.of(torch.ops.c10d.allreduce_.default).is_collective
    assert operators.of(torch.ops._c10d_functional.all_reduce.default).is_collective
    assert not operators.of(torch.ops.aten.add.Tensor).is_collective
    assert set(state.now.carried_out) == {"c10d", "_c10d_functional", "_c10d_functional_autograd"}
    assert not state.State().carried_out  # what there is after the simulation
