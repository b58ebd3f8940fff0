"""A GPU whose memory runs out: each text and number is what PyTorch's CUDA build says after the same lines."""

import copy
import gc
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from samedevice import simulate_cuda
from samedevice.simulation.device import machine

MIB = 2**20
ADVICE = (
    " is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting "
    "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management "
    " (https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)"
)


@pytest.fixture(autouse=True)
def _first_simulation() -> Iterator[None]:
    gc.collect()
    with simulate_cuda(devices=2):
        torch.cuda.init()
        yield


def allow(mebibytes: float, device: int = 0) -> None:
    total = torch.cuda.get_device_properties(device).total_memory
    torch.cuda.set_per_process_memory_fraction(mebibytes * MIB / total, device)


def on_gpu(mebibytes: float, device: str = "cuda") -> torch.Tensor:
    return torch.empty(int(mebibytes * MIB), dtype=torch.uint8, device=device)


def counts(*names: str) -> list[int]:
    stats = torch.cuda.memory_stats()
    return [stats[name] for name in names]


def test_the_text_is_pytorchs() -> None:
    allow(64)
    held = on_gpu(40.25)
    with pytest.raises(torch.OutOfMemoryError) as full:
        on_gpu(25)
    assert str(full.value) == (
        "CUDA out of memory. Tried to allocate 26.00 MiB. GPU 0 has a total capacity of 16.00 GiB of which 15.96 GiB "
        "is free. Including non-PyTorch memory, this process has 42.00 MiB memory in use. 64.00 MiB allowed; Of the "
        f"allocated memory 40.25 MiB is allocated by PyTorch, and 1.75 MiB{ADVICE}"
    )
    del held


def test_without_a_limit_the_whole_gpu_may_be_used() -> None:
    with pytest.raises(torch.cuda.OutOfMemoryError) as full:
        on_gpu(2**14 + 1)
    assert str(full.value) == (
        "CUDA out of memory. Tried to allocate 16.00 GiB. GPU 0 has a total capacity of 16.00 GiB of which 16.00 GiB "
        "is free. Including non-PyTorch memory, this process has 0 bytes memory in use. Of the allocated memory 0 "
        f"bytes is allocated by PyTorch, and 0 bytes{ADVICE}"
    )


def test_it_is_the_error_that_programs_catch() -> None:
    allow(1)
    with pytest.raises(RuntimeError) as full:
        on_gpu(2)
    assert type(full.value) is torch.OutOfMemoryError
    assert torch.cuda.OutOfMemoryError is torch.OutOfMemoryError
    assert full.value.args == (str(full.value),)


@pytest.mark.parametrize("make", [torch.empty, torch.zeros, torch.ones, torch.randn])
def test_a_tensor_that_fits_nowhere_is_refused_at_once(make: Callable[..., torch.Tensor]) -> None:
    start = time.perf_counter()
    with pytest.raises(torch.OutOfMemoryError, match=r"Tried to allocate 4096\.00 GiB"):
        make(2**20, 2**20, device="cuda")
    assert time.perf_counter() - start < 5


def test_more_than_an_exabyte() -> None:
    with pytest.raises(torch.OutOfMemoryError) as full:
        torch.empty(2**60, device="cuda")
    assert str(full.value) == "CUDA out of memory. Tried to allocate more than 1EB memory."
    with pytest.raises(RuntimeError, match="Storage size calculation overflowed with sizes="):
        torch.empty(2**62, device="cuda")


LARGE: dict[str, Callable[[torch.Tensor], Any]] = {  # of a tensor of 2**16 elements on a GPU
    "a product of broadcast tensors": lambda x: x[:, None] * x[None, :],
    "a comparison": lambda x: x[:, None] < x[None, :],
    "a matrix product": lambda x: x[:, None] @ x[None, :],
    "outer": lambda x: torch.outer(x, x),
    "three tensors": lambda x: torch.where(x[:, None] > 1, x[None, :], x[:1]),
    "an expanded view, copied": lambda x: x.expand(2**17, -1).clone(),
    "an expanded view, computed with": lambda x: x.expand(2**17, -1) + 1,
    "repeat": lambda x: x.repeat(2**17),
    "cat": lambda x: torch.cat([x.expand(2**15, -1)] * 3),
    "pad": lambda x: nn.functional.pad(x, (0, 2**34)),
    "interpolate": lambda x: nn.functional.interpolate(x.view(1, 1, 2**8, 2**8), scale_factor=2**9),
    "a convolution": lambda x: nn.functional.conv1d(x.view(1, 1, -1), x[:1].expand(2**17, 1, 1)),
    "a padded convolution": lambda x: nn.functional.conv1d(x.view(1, 1, -1), x[:1].view(1, 1, 1), padding=2**33),
    "a transposed one": lambda x: nn.functional.conv_transpose1d(x.view(1, 1, -1), x[:2].view(1, 1, 2), stride=2**16),
    "a dilated one": lambda x: nn.functional.conv_transpose1d(x[:1].view(1, 1, 1), x.view(1, 1, -1), dilation=2**16),
    "a norm of groups": lambda x: nn.functional.group_norm(x.view(1, 2, -1).expand(2**17, 2, 2**15), 2),
    "a norm of layers": lambda x: nn.functional.layer_norm(x.expand(2**17, -1), (2**16,)),
    "a loss": lambda x: nn.functional.mse_loss(*(x[:, None].expand(-1, 2**17),) * 2, reduction="none"),
    "index": lambda x: x[torch.zeros(1, dtype=torch.long, device="cuda").expand(2**33)],
    "one_hot": lambda x: nn.functional.one_hot(x.long(), 2**18),
    "eye": lambda x: torch.eye(2**17, device="cuda"),
    "arange": lambda x: torch.arange(2**32, device="cuda"),
    "full": lambda x: torch.full((2**17, 2**16), 1.5, device="cuda"),
    "new_zeros": lambda x: x.new_zeros(2**33),
    "zeros_like": lambda x: torch.zeros_like(x.expand(2**17, -1)),
    "resize_": lambda x: x.resize_(2**33),
    "out": lambda x: torch.mul(x[None, :], x.expand(2**17, -1), out=torch.empty(0, device="cuda")),
    "a storage": lambda x: torch.UntypedStorage(2**35, device="cuda"),
    "a storage, resized": lambda x: x.untyped_storage().resize_(2**35),
    "a module": lambda x: nn.Linear(2**17, 2**16, device="cuda"),
    "a name bound before": lambda x: torch._C._VariableFunctions.empty(2**33, device="cuda"),
    "memory outside tensors": lambda x: torch.cuda.caching_allocator_alloc(2**35),
}


@pytest.mark.parametrize("case", LARGE)
def test_a_large_result_is_refused_before_it_is_computed(case: str) -> None:
    x = torch.ones(2**16, device="cuda")
    allow(2**11)
    start = time.perf_counter()
    with pytest.raises(torch.OutOfMemoryError, match=r"^CUDA out of memory\. Tried to allocate "):
        LARGE[case](x)
    assert time.perf_counter() - start < 5
    assert torch.cuda.memory_stats()["num_ooms"] == 1


AFTERWARDS: dict[str, tuple[int, Callable[[torch.Tensor], Any]]] = {  # MiB that fit, of a tensor of 16 MiB on the CPU
    "to": (15, lambda x: x.to("cuda")),
    "cuda": (15, lambda x: x.cuda()),
    "to and another dtype": (31, lambda x: x.to("cuda", torch.float64)),
    "tensor": (15, lambda x: torch.tensor(x.numpy(), device="cuda")),
    "as_tensor": (15, lambda x: torch.as_tensor(x.numpy(), device="cuda")),
    "add": (31, lambda x: x.cuda() + 1),
    "cat": (47, lambda x: torch.cat([x.cuda()] * 2)),
    "double": (47, lambda x: x.cuda().double()),
    "contiguous": (31, lambda x: x.cuda().view(2, -1).t().contiguous()),
    "deepcopy": (31, lambda x: copy.deepcopy(x.cuda())),
    "a module": (15, lambda x: nn.Linear(2048, 2048).cuda()),
    "foreach": (31, lambda x: torch._foreach_add([x.cuda()], 1)),
    "a gradient": (31, lambda x: (x.cuda().requires_grad_() * 1).sum().backward()),
    "a storage": (15, lambda x: x.untyped_storage().to(device="cuda:0")),
    "a copy of a storage": (31, lambda x: x.cuda().untyped_storage().clone()),
    "out": (31, lambda x: torch.add(x.cuda(), 1, out=torch.empty(0, device="cuda"))),
    "another GPU": (15, lambda x: x.to("cuda:1").to("cuda:0")),
    "a file": (15, lambda x: torch.load(saved(x), map_location="cuda")),
}


def saved(x: torch.Tensor) -> Any:
    import io

    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    return file


@pytest.mark.parametrize("case", AFTERWARDS)
def test_all_that_makes_tensors_may_find_no_memory(case: str) -> None:
    fits, make = AFTERWARDS[case]
    allow(fits)
    with pytest.raises(torch.OutOfMemoryError, match=r"Tried to allocate (16|32)\.00 MiB"):
        make(torch.ones(2**22))
    gc.collect()
    assert torch.cuda.memory_allocated() == 0
    allow(2**10)
    make(torch.ones(2**22))


def test_what_works_in_place_or_is_a_view_needs_no_memory() -> None:
    allow(40)
    x = on_gpu(40)
    x += x
    x.mul_(2)
    assert x[:100].expand(10**6, -1).view(2, -1, 100).shape == (2, 500000, 100)
    assert counts("num_ooms", "num_alloc_retries") == [0, 0]


def test_what_is_freed_is_given_back_before_memory_runs_out() -> None:
    allow(64)
    held = on_gpu(40)
    del held
    held = on_gpu(60)  # the segment of 40 MiB goes, and it is tried again
    assert counts("num_ooms", "num_alloc_retries", "num_sync_all_streams", "num_device_free") == [0, 1, 1, 1]
    with pytest.raises(torch.OutOfMemoryError):
        on_gpu(5)
    assert counts("num_ooms", "num_alloc_retries", "num_sync_all_streams", "num_device_free") == [1, 2, 2, 1]
    del held
    assert on_gpu(5).nbytes == 5 * MIB
    torch.cuda.reset_accumulated_memory_stats()
    assert counts("num_ooms", "num_alloc_retries", "num_sync_all_streams") == [0, 0, 0]


def test_a_segment_that_is_in_use_in_part_stays() -> None:
    allow(64)
    held = on_gpu(40)
    del held
    held = on_gpu(20)
    with pytest.raises(torch.OutOfMemoryError, match=r"20\.00 MiB is allocated by PyTorch, and 20\.00 MiB is reserved"):
        on_gpu(30)
    del held


@pytest.mark.parametrize(("size", "limit", "fit"), [(5, 64, 12), (0.75, 8, 8), (0.01, 2, 195), (100, 2**10, 10)])
def test_a_gpu_can_be_filled(size: float, limit: int, fit: int) -> None:
    allow(limit)
    held = []
    with pytest.raises(torch.OutOfMemoryError):
        while len(held) < 1000:
            held.append(on_gpu(size))
    assert len(held) == fit
    assert torch.cuda.memory_reserved() <= limit * MIB


def test_a_program_halves_its_batch_and_goes_on() -> None:
    allow(100)
    model = nn.Linear(1024, 1024, device="cuda")
    batch = 2**16
    while True:
        try:
            model(torch.ones(batch, 1024, device="cuda")).sum().backward()
            break
        except torch.cuda.OutOfMemoryError:
            batch //= 2
    assert batch == 2**13
    assert model.weight.grad is not None
    assert torch.cuda.max_memory_reserved() <= 100 * MIB


def test_a_lower_limit_than_what_is_in_use() -> None:
    held = on_gpu(40)
    allow(20)
    with pytest.raises(torch.OutOfMemoryError, match=r"20\.00 MiB allowed; Of the allocated memory 40\.00 MiB"):
        on_gpu(1)
    del held
    assert on_gpu(1).nbytes == MIB
    torch.cuda.set_per_process_memory_fraction(1.0)
    assert on_gpu(100).nbytes == 100 * MIB


def test_each_gpu_has_its_own_memory() -> None:
    allow(64, 1)
    held = on_gpu(100)
    with pytest.raises(torch.OutOfMemoryError, match=r"GPU 1 has a total capacity .* 64\.00 MiB allowed"):
        on_gpu(100, "cuda:1")
    del held


def test_the_limit_is_read_back_in_whole_bytes() -> None:
    torch.cuda.set_per_process_memory_fraction(0.001)
    assert torch.cuda.get_per_process_memory_fraction() == 0.0009999999892897904
    torch.cuda.set_per_process_memory_fraction(0.0)
    with pytest.raises(torch.OutOfMemoryError, match=r"0 bytes allowed"):
        on_gpu(1)
    assert torch.empty(0, device="cuda").numel() == 0


def test_a_storage_that_cannot_grow_stays_as_it_is() -> None:
    allow(64)
    x = on_gpu(40)
    with pytest.raises(torch.OutOfMemoryError):
        x.untyped_storage().resize_(50 * MIB)
    assert x.untyped_storage().nbytes() == 40 * MIB
    with pytest.raises(torch.OutOfMemoryError):
        x.resize_(50 * MIB)
    assert torch.cuda.memory_allocated() == 40 * MIB
    del x
    gc.collect()  # pytest holds the frames of what it has caught
    assert torch.cuda.memory_allocated() == 0


def test_the_error_holds_no_memory_once_it_is_caught() -> None:
    allow(64)
    held = on_gpu(40)
    try:
        held + held
    except torch.OutOfMemoryError:
        del held
    assert torch.cuda.memory_allocated() == 0
    assert on_gpu(64).nbytes == 64 * MIB


def test_a_module_that_does_not_fit_stays_on_the_cpu() -> None:
    allow(24)
    model = nn.Sequential(nn.Linear(1024, 1024), nn.Linear(4096, 4096))
    with pytest.raises(torch.OutOfMemoryError):
        model.cuda()
    assert [p.device.type for p in model.parameters()] == ["cuda", "cuda", "cpu", "cpu"]


def test_observers_are_told() -> None:
    told: list[tuple[int, int, int, int]] = []
    torch._C._cuda_attach_out_of_memory_observer(lambda *said: told.append(said))
    allow(64)
    with pytest.raises(torch.OutOfMemoryError):
        on_gpu(100)
    torch.cuda.set_per_process_memory_fraction(1.0)
    with pytest.raises(torch.OutOfMemoryError):
        on_gpu(2**15)
    assert told == [(0, 100 * MIB, 64 * MIB, 2**34), (0, 2**35, 2**34, 2**34)]


def test_the_summary_counts_the_errors() -> None:
    allow(64)
    with pytest.raises(torch.OutOfMemoryError):
        on_gpu(100)
    line = torch.cuda.memory_summary(abbreviated=True).splitlines()[3]
    assert line == "|            CUDA OOMs: 1            |        cudaMalloc retries: 1         |"


def test_free_memory_is_what_is_not_reserved() -> None:
    held = on_gpu(11)
    assert torch.cuda.mem_get_info() == (2**34 - 12 * MIB, 2**34)
    torch.cuda.empty_cache()
    del held
    assert torch.cuda.mem_get_info() == (2**34 - 12 * MIB, 2**34)
    torch.cuda.empty_cache()
    assert torch.cuda.mem_get_info() == (2**34, 2**34)


def test_a_machine_without_memory_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "available", lambda: 2**30)
    with pytest.raises(MemoryError) as full:
        torch.ones(2**28, device="cuda")
    assert str(full.value) == (
        "samedevice keeps the values of simulated GPUs in this machine's memory, of which 1024.00 MiB is available, "
        "too little for 1024.00 MiB more on cuda:0: compute with less, or let the GPU run out first, by "
        "torch.cuda.set_per_process_memory_fraction"
    )
    x = torch.ones(2**16, device="cuda")
    with pytest.raises(MemoryError):
        x[:, None] * x[None, : 2**15]
    assert counts("num_ooms") == [0]
    with pytest.raises(torch.OutOfMemoryError):  # what a GPU would say comes first
        torch.ones(2**35, device="cuda")


def test_a_machine_that_is_nearly_full_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "available", lambda: 2**26)
    held = []
    with pytest.raises(MemoryError):
        while len(held) < 20:
            held.append(on_gpu(200))
    assert len(held) < 3


def test_what_pytorchs_allocator_for_the_cpu_refuses_is_told_in_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "available", lambda: None)
    error = RuntimeError(
        "[enforce fail at alloc_cpu.cpp:125] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to "
        "allocate 549755813888 bytes. Error code 12 (Cannot allocate memory)"
    )
    with pytest.raises(MemoryError, match=r"machine's memory, too little for 512\.00 GiB more on cuda:1"):
        machine.refuse_if_full(error, torch.device("cuda:1"))


def test_a_container_has_its_own_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine, "_CGROUP", tmp_path)
    assert machine._of_container() is None
    for name, text in (
        ("memory.max", f"{2**30}\n"),
        ("memory.current", f"{2**29}\n"),
        ("memory.stat", f"anon 5\nactive_file {2**20}\ninactive_file {2**21}\n"),
    ):
        (tmp_path / name).write_text(text)
    assert machine._of_container() == 2**29 + 2**20 + 2**21
    (tmp_path / "memory.max").write_text("max\n")
    assert machine._of_container() is None


@pytest.mark.skipif(machine.available() is None, reason="this system does not tell")
def test_the_machine_is_asked_for_its_memory() -> None:
    left = machine.available()
    assert left is not None
    assert 2**26 < left < 2**50
