"""What torch.cuda counts of memory; each number is what PyTorch's CUDA build says after the same lines."""

import gc
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from samedevice import simulate_cuda

MIB = 2**20


@pytest.fixture(autouse=True)
def _first_simulation() -> Iterator[None]:
    gc.collect()
    with simulate_cuda(devices=2):
        torch.cuda.init()  # until then PyTorch answers 0 without counting
        yield


def on_gpu(mebibytes: float) -> torch.Tensor:
    return torch.empty(int(mebibytes * MIB), dtype=torch.uint8, device="cuda")


RESERVED: dict[str, tuple[tuple[float, ...], float, float]] = {  # MiB of tensors, what is reserved, what is allocated
    "nothing": ((), 0, 0),
    "a small one": ((0.25,), 2, 0.25),
    "two of 1 MiB": ((1, 1), 2, 2),
    "three of 1 MiB": ((1, 1, 1), 4, 3),
    "one of 2 MiB": ((2,), 20, 2),
    "small and large": ((0.5, 2), 22, 2.5),
    "eleven of 2 MiB": ((2,) * 11, 40, 22),
    "one of 10 MiB": ((10,), 10, 10),
    "one of 11 MiB, whose segment is not cut": ((11,), 12, 12),
    "one of 12.5 MiB, whose segment is": ((12.5,), 14, 12.5),
    "one of 100 MiB": ((100,), 100, 100),
}


@pytest.mark.parametrize("case", RESERVED)
def test_memory_is_reserved_in_segments(case: str) -> None:
    sizes, reserved, allocated = RESERVED[case]
    tensors = [on_gpu(size) for size in sizes]
    assert (torch.cuda.memory_reserved(), torch.cuda.memory_allocated()) == (reserved * MIB, allocated * MIB)
    assert torch.accelerator.memory_reserved() == torch.cuda.max_memory_reserved() == reserved * MIB
    assert torch.cuda.memory_reserved(1) == 0
    del tensors


def test_what_is_freed_is_kept_and_used_again() -> None:
    first = on_gpu(30)
    del first
    assert (torch.cuda.memory_reserved(), torch.cuda.memory_allocated()) == (30 * MIB, 0)
    second, third = on_gpu(15), on_gpu(12)
    assert (torch.cuda.memory_reserved(), torch.cuda.memory_allocated()) == (30 * MIB, 27 * MIB)
    del second, third
    assert torch.cuda.memory_stats()["inactive_split.all.current"] == 0  # they are one block again
    whole = on_gpu(30)
    assert torch.cuda.memory_reserved() == whole.nbytes


def test_the_smallest_block_that_is_large_enough_is_taken() -> None:
    large, small = on_gpu(60), on_gpu(30)
    del large, small
    again = on_gpu(29.5)
    assert torch.cuda.memory_allocated() == 30 * MIB  # a rest of 1 MiB or less is not cut off
    large = on_gpu(59)
    assert torch.cuda.memory_reserved() == 90 * MIB
    del again, large


def test_an_empty_cache_has_no_unused_segments() -> None:
    tensors = [on_gpu(1) for _ in range(5)]  # two in each segment
    del tensors[0]
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() == 6 * MIB
    del tensors[0], tensors[-1]
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() == 2 * MIB
    assert torch.cuda.max_memory_reserved() == 6 * MIB
    torch.cuda.reset_peak_memory_stats()
    assert torch.cuda.max_memory_reserved() == 2 * MIB
    assert torch.cuda.memory_stats()["num_device_free"] == 2
    del tensors
    torch.accelerator.empty_cache()
    assert torch.cuda.memory_reserved() == 0


def test_all_that_came_and_went_is_counted() -> None:
    held = on_gpu(1)
    for _ in range(3):
        on_gpu(2)
    stats = torch.cuda.memory_stats()
    assert {name: count for name, count in stats.items() if name.startswith("allocation.") and count} == {
        "allocation.all.allocated": 4, "allocation.all.current": 1, "allocation.all.freed": 3, "allocation.all.peak": 2,
        "allocation.large_pool.allocated": 3, "allocation.large_pool.freed": 3, "allocation.large_pool.peak": 1,
        "allocation.small_pool.allocated": 1, "allocation.small_pool.current": 1, "allocation.small_pool.peak": 1,
    }  # fmt: skip
    assert (stats["segment.all.current"], stats["num_device_alloc"]) == (2, 2)
    assert stats["inactive_split_bytes.all.current"] == MIB
    assert stats["inactive_split_bytes.all.peak"] == 19 * MIB
    torch.cuda.reset_accumulated_memory_stats()
    stats = torch.cuda.memory_stats()
    assert [stats[f"allocation.all.{name}"] for name in ("allocated", "freed", "current", "peak")] == [0, 0, 1, 2]
    del held
    assert torch.cuda.memory_stats()["allocation.all.freed"] == 1


def test_a_long_program_is_counted_while_it_runs() -> None:
    held = on_gpu(1)
    for _ in range(3000):
        held = held + 1
    assert torch.cuda.memory_stats()["allocation.all.freed"] == 3000
    assert torch.cuda.max_memory_allocated() == 2 * MIB


def test_the_summary_is_pytorchs() -> None:
    held = on_gpu(1)
    lines = torch.cuda.memory_summary(abbreviated=True).splitlines()
    assert lines[1] == "|                  PyTorch CUDA memory summary, device ID 0                 |"
    assert lines[7] == "| Allocated memory      |   1024 KiB |   1024 KiB |   1024 KiB |      0 B   |"
    del held


def test_pinned_memory_is_counted_in_powers_of_two() -> None:
    held = torch.ones(3).pin_memory()
    stats = torch.cuda.host_memory_stats()
    assert [stats[f"active_bytes.{name}"] for name in ("current", "peak", "allocated", "freed")] == [16, 16, 16, 0]
    assert (stats["allocations.current"], stats["num_host_alloc"], stats["host_free_time.avg"]) == (1, 1, 0)
    del held
    again = torch.ones(4).pin_memory()
    stats = torch.cuda.host_memory_stats()
    assert (stats["allocations.allocated"], stats["active_requests.allocated"]) == (1, 2)
    del again


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "memory_reserved": (lambda: torch.cuda.memory_reserved(True), "invalid argument to memory_allocated"),
    "reset_peak": (
        lambda: torch.cuda.reset_peak_memory_stats(True), "invalid argument to reset_peak_memory_stats",
    ),
    "reset_accumulated": (
        lambda: torch.cuda.reset_accumulated_memory_stats(True), "invalid argument to reset_accumulated_memory_stats",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_true_is_no_gpu(case: str) -> None:
    ask, text = REFUSED[case]
    with pytest.raises(RuntimeError) as refusal:
        ask()
    assert str(refusal.value) == text
    assert torch.accelerator.memory_reserved(True) == 0


def test_memory_outside_tensors_is_counted_until_it_is_given_back(two_gpus: None) -> None:
    address = torch.cuda.caching_allocator_alloc(512, device=1)
    assert torch.cuda.memory_allocated(1) == 512
    torch.cuda.caching_allocator_delete(address)
    assert torch.cuda.memory_allocated(1) == 0
    torch.cuda.memory._record_memory_history(enabled=None)


def test_counters_follow_a_storage_that_is_resized(two_gpus: None) -> None:
    x = torch.ones(1000, device="cuda")
    seen = [torch.cuda.memory_allocated()]
    for size in (5000, 10):  # a tensor that shrinks keeps its memory
        x.resize_(size)
        seen.append(torch.cuda.memory_allocated())
    for size in (0, 4000, 40000):  # as FSDP frees a parameter, and takes memory for it again
        x.untyped_storage().resize_(size)
        seen.append(torch.cuda.memory_allocated())
    del x
    assert [*seen, torch.cuda.memory_allocated()] == [4096, 20480, 20480, 0, 4096, 40448, 0]


RESIZED: dict[str, tuple[Callable[[torch.Tensor], Any], int]] = {
    "out of an operator": (lambda x: torch.add(torch.ones(1000, device="cuda"), 1, out=x), 4096),
    "out of cat": (lambda x: torch.cat([torch.ones(500, device="cuda")] * 2, out=x), 4096),
    "resize_as_": (lambda x: x.resize_as_(torch.ones(1000, device="cuda")), 4096),
    "a storage with a dtype": (lambda x: x.storage().resize_(1000), 4096),
    "the storage of .data": (lambda x: x.data.untyped_storage().resize_(4000), 4096),
    "a view's storage": (lambda x: x[:5].untyped_storage().resize_(0), 0),
    "set_": (lambda x: x.set_(), 0),
}


@pytest.mark.filterwarnings("ignore")  # of storages with a dtype, and of an out= that is no empty one
@pytest.mark.parametrize("way", RESIZED)
def test_counters_follow_what_gives_a_tensor_another_size(two_gpus: None, way: str) -> None:
    resize, expected = RESIZED[way]
    x = torch.ones(10, device="cuda")
    resize(x)
    assert torch.cuda.memory_allocated() == expected
    del x
    assert torch.cuda.memory_allocated() == 0


def test_the_new_block_is_taken_before_the_old_one_is_given_back(two_gpus: None) -> None:
    x = torch.ones(1000, device="cuda")
    torch.cuda.reset_peak_memory_stats()
    x.resize_(100000)
    assert torch.cuda.max_memory_allocated() == 4096 + 400384


def test_a_module_that_moves_takes_its_memory_once() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.Linear(256, 64)).cuda()
    assert torch.cuda.memory_allocated() == torch.cuda.max_memory_allocated() == 132608
    model.cuda().float()
    assert torch.cuda.max_memory_allocated() == 132608
    model.cpu().cuda()
    assert torch.cuda.memory_stats()["allocation.all.current"] == 4
