"""What a script asks of torch.cuda and torch.accelerator; each text is what PyTorch's CUDA build says."""

import copy
import gc
import importlib
import io
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from torch import arange, empty_strided, full, linspace, ones, rand, randn, randperm, zeros
from torch.profiler import ProfilerActivity

from samedevice import simulate_cuda
from samedevice.gpu_types import UNNAMED

pytestmark = pytest.mark.usefixtures("two_gpus")

INVALID = "CUDA error: invalid device ordinal"
REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "properties": (lambda: torch.cuda.get_device_properties(5), AssertionError, "Invalid device id"),
    "properties of the cpu": (
        lambda: torch.cuda.get_device_properties("cpu"), ValueError, "Expected a cuda device, but got: cpu",
    ),
    "peer": (lambda: torch.cuda.can_device_access_peer(0, 5), AssertionError, "Invalid peer device id"),
    "device": (lambda: torch.cuda.can_device_access_peer(5, 0), AssertionError, "Invalid device id"),
    "synchronize": (lambda: torch.cuda.synchronize(5), torch.AcceleratorError, INVALID),
    "accelerator's synchronize": (lambda: torch.accelerator.synchronize(5), torch.AcceleratorError, INVALID),
    "set_device": (lambda: torch.cuda.set_device(5), torch.AcceleratorError, INVALID),
    "free memory": (lambda: torch.cuda.mem_get_info(7), torch.AcceleratorError, INVALID),
    "allocated": (
        lambda: torch.cuda.memory_allocated(5), RuntimeError, "Invalid device argument \5: did you call init?",
    ),
    "fraction": (
        lambda: torch.cuda.set_per_process_memory_fraction(2.0), ValueError,
        "Invalid fraction value: 2.0. Allowed range: 0~1",
    ),
    "stream": (lambda: torch.cuda.Stream(5), torch.AcceleratorError, INVALID),
    "current_stream": (
        lambda: torch.cuda.current_stream(5), RuntimeError, "Device index value 5 is out of index range [0, 2)",
    ),
    "index without a number": (
        lambda: torch.accelerator.set_device_index("cuda"), ValueError,
        "Expected a torch.device with a specified index or an integer, but got:cuda",
    ),
    "another type": (
        lambda: torch.accelerator.set_device_index("cpu"), ValueError,
        "cpu doesn't match the current accelerator cuda.",
    ),
    "random state": (lambda: torch.cuda.get_rng_state(5), IndexError, "tuple index out of range"),
    "debug mode": (
        lambda: torch.cuda.set_sync_debug_mode("bad"), RuntimeError,
        "invalid value of debug_mode, expected one of `default`, `warn`, `error`",
    ),
    "plans": (
        lambda: torch.backends.cuda.cufft_plan_cache[5].max_size, RuntimeError,
        "cufft_plan_cache: expected 0 <= device index < 2, but got device with index 5",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cuda_refuses_is_refused_in_its_words(case: str) -> None:
    ask, kind, text = REFUSED[case]
    torch.zeros(1, device="cuda")
    with pytest.raises(kind) as refusal:
        ask()
    assert str(refusal.value).split("\n")[0] == text


UNSIMULATED: dict[str, Callable[[], Any]] = {
    "CUDA graphs": lambda: torch.cuda.CUDAGraph(),
    "allocator": lambda: torch.cuda.memory_snapshot(),
    "history": lambda: torch.cuda.memory._record_memory_history(),
    "sensors": lambda: torch.cuda.utilization(),
    "cuBLAS": lambda: torch.cuda.current_blas_handle(),
    "one process": lambda: torch.cuda.Event(interprocess=True).ipc_handle(),
}


@pytest.mark.parametrize("what", UNSIMULATED)
def test_what_is_not_simulated_says_so(what: str) -> None:
    with pytest.raises(NotImplementedError, match=rf"samedevice .*{what}|samedevice .*no {what}|samedevice") as refusal:
        UNSIMULATED[what]()
    assert what.split()[-1] in str(refusal.value)


def test_a_simulated_gpu_is_no_gpu_that_can_be_bought() -> None:
    told = torch.cuda.get_device_properties(1)
    assert (told.name, told.total_memory) == (torch.cuda.get_device_name(1), UNNAMED.memory)
    assert "samedevice" in told.name
    assert torch.cuda.get_device_capability() == (8, 5)
    assert repr(told).startswith(f"_CudaDeviceProperties(name='{told.name}', major=8, minor=5, total_memory=16384MB")
    assert torch.cuda.get_device_properties(0).uuid != told.uuid
    assert torch.cuda.is_bf16_supported()
    assert torch.cuda.is_tf32_supported()


def test_contexts_choose_a_gpu_and_give_back_the_one_before() -> None:
    assert isinstance(torch.cuda.device(1), torch.cuda.device)
    with torch.cuda.device("cuda:1"):
        assert (torch.cuda.current_device(), torch.zeros(1, device="cuda").get_device()) == (1, 1)
        with torch.cuda.device(None), torch.cuda.device(-1), torch.cuda.device_of(torch.zeros(1)):
            assert torch.cuda.current_device() == 1
        with torch.cuda.device_of(torch.zeros(1, device="cuda:0")):
            assert torch.cuda.current_device() == 0
        with torch.accelerator.device_index(0):
            assert torch.accelerator.current_device_index() == 0
    assert torch.cuda.current_device() == 0


def test_torch_knows_its_accelerator() -> None:
    assert torch.get_device_module() is torch.get_device_module("cuda:1") is torch.cuda
    assert torch.accelerator.current_accelerator(check_available=True) == torch.device("cuda")
    assert torch.backends.cuda.is_built()
    assert torch.device(1) == torch.device("cuda", 1)


def test_flags_of_backends_can_be_set() -> None:
    torch.backends.cuda.cufft_plan_cache.max_size = 10
    torch.backends.cuda.cufft_plan_cache.clear()
    with torch.backends.cudnn.flags(enabled=False):
        assert not torch.backends.cudnn.enabled
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    assert torch.get_float32_matmul_precision() == "high"
    torch.backends.cuda.matmul.allow_tf32 = before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_forked_child_sees_the_gpus_that_it_may_not_use() -> None:
    torch.zeros(1, device="cuda")
    child = os.fork()
    if not child:
        seen = torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.is_initialized()
        torch.manual_seed(0)
        try:
            torch.cuda.current_device()
        except RuntimeError as error:
            os._exit(0 if seen == (True, 2, False) and "Cannot re-initialize CUDA" in str(error) else 1)
        os._exit(2)
    assert os.waitpid(child, 0)[1] == 0


def test_streams_are_told_apart_and_one_of_each_gpu_is_current() -> None:
    first, second, there = torch.cuda.Stream(), torch.cuda.Stream(), torch.cuda.Stream(1)
    assert len({first, second, there, torch.cuda.default_stream(), torch.cuda.default_stream(1)}) == 5
    assert torch.cuda.current_stream() == torch.cuda.default_stream()
    with torch.cuda.stream(first):
        assert torch.cuda.current_stream() == first
        assert torch.accelerator.current_stream().stream_id == first.stream_id
        with torch.cuda.stream(there):
            assert (torch.cuda.current_device(), torch.cuda.current_stream()) == (1, there)
            assert torch.cuda.current_stream(0) == first
        assert (torch.cuda.current_device(), torch.cuda.current_stream()) == (0, first)
        assert torch.cuda.current_stream(1) == torch.cuda.default_stream(1)
    assert torch.cuda.current_stream() == torch.cuda.default_stream()
    torch.cuda.set_stream(there)
    assert torch.cuda.current_device() == 1
    with simulate_cuda():
        assert torch.cuda.current_stream() == there


def test_streams_come_from_pytorchs_pool_of_32() -> None:
    streams = [torch.cuda.Stream() for _ in range(33)]
    assert len(set(streams)) == 32
    assert streams[32] == streams[0]
    assert torch.cuda.Stream.priority_range() == (0, -3)
    assert [torch.cuda.Stream(priority=p).priority for p in (0, -1, -9, 9)] == [0, -1, -3, 0]


def test_streams_and_events_are_pytorchs_types() -> None:
    stream, event = torch.cuda.Stream(1), torch.cuda.Event()
    assert isinstance(stream, torch.Stream)
    assert isinstance(event, torch.Event)
    assert repr(stream) == f"<torch.cuda.Stream device=cuda:1 cuda_stream={stream.cuda_stream:#x}>"
    assert repr(event) == "<torch.cuda.Event uninitialized>"
    assert repr(torch.Stream("cpu")) == "torch.Stream device_type=cpu, device_index=-1, stream_id=0"
    assert torch.Stream(device="cuda:1").device == torch.device("cuda:1")
    assert repr(torch.accelerator.current_stream()) == "torch.Stream device_type=cuda, device_index=0, stream_id=0"
    assert torch.cuda.ExternalStream(stream.cuda_stream, device=1).cuda_stream == stream.cuda_stream
    stream.wait_event(torch.cuda.default_stream().record_event())
    stream.wait_stream(torch.cuda.current_stream())
    torch.zeros(1, device="cuda:1").record_stream(stream)
    assert stream.query()


def test_events_measure_the_time_of_the_simulation() -> None:
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with pytest.raises(ValueError) as refusal:
        start.elapsed_time(end)
    assert str(refusal.value) == "Both events must be recorded before calculating elapsed time."
    start.record()
    time.sleep(0.02)
    end.record()
    assert 20 <= start.elapsed_time(end) < 2000
    with pytest.raises(ValueError) as refusal:
        start.elapsed_time(torch.cuda.Event())
    assert str(refusal.value) == "Both events must be created with argument 'enable_timing=True'."


def test_an_event_stays_with_the_gpu_that_recorded_it() -> None:
    event = torch.cuda.Event()
    assert event.device is None
    event.record(torch.cuda.current_stream(1))
    assert event.device == torch.device("cuda:1")
    with pytest.raises(RuntimeError) as refusal:
        event.record()
    assert str(refusal.value) == "Event device \1 does not match recording stream's device "


def test_profilers_find_their_functions() -> None:
    with torch.cuda.profiler.profile(), torch.cuda.nvtx.range("step"):
        torch.cuda.nvtx.mark("here")
    torch.cuda.check_error(torch.cuda.cudart().cudaProfilerStart())
    assert torch.cuda.list_gpu_processes() == "GPU:0\nno processes are running"


def test_memory_is_counted_in_blocks_per_gpu() -> None:
    gc.collect()  # or what earlier tests left goes meanwhile
    torch.cuda.init()  # until then PyTorch answers 0 without counting
    before = torch.cuda.memory_allocated(1)
    held = torch.zeros(1000, device="cuda:1")  # 4000 bytes: 8 blocks of 512
    view = held[:10]
    assert torch.cuda.memory_allocated(1) - before == 4096
    assert torch.cuda.mem_get_info(1) == (UNNAMED.memory - torch.cuda.memory_reserved(1), UNNAMED.memory)
    assert torch.accelerator.memory_allocated(1) == before + 4096
    del held
    assert torch.cuda.memory_allocated(1) - before == 4096
    del view
    assert torch.cuda.memory_allocated(1) == before
    torch.zeros(2000, device="cuda:1")
    assert torch.cuda.max_memory_allocated(1) == before + 8192
    torch.cuda.reset_peak_memory_stats(1)
    assert torch.cuda.max_memory_allocated(1) == before
    assert "PyTorch CUDA memory summary, device ID 1" in torch.cuda.memory_summary(1)


def test_the_most_that_was_held_is_known_where_nobody_asked_before() -> None:
    x = torch.zeros(1000, device="cuda:1")
    y = x * 2
    del x, y
    assert torch.cuda.memory_allocated(1) == 0
    assert torch.cuda.max_memory_allocated(1) == 2 * 4096
    stats = torch.cuda.memory_stats(1)
    assert (stats["allocation.all.peak"], stats["requested_bytes.all.peak"]) == (2, 8000)
    assert (stats["allocation.small_pool.peak"], stats["allocation.large_pool.peak"]) == (2, 0)
    assert torch.cuda.max_memory_allocated(0) == 0


def test_memory_that_only_autograd_holds_is_counted() -> None:
    gc.collect()
    torch.cuda.init()
    before = torch.cuda.memory_allocated()
    loss = torch.zeros(1000, device="cuda", requires_grad=True).exp().sum()
    assert torch.cuda.memory_allocated() - before == 2 * 4096 + 512
    del loss
    assert torch.cuda.memory_allocated() == before


def test_memory_of_what_is_loaded_and_copied_is_counted() -> None:
    tensor, file = torch.ones(1000, device="cuda"), io.BytesIO()
    torch.save(tensor, file)

    def load(place: str | None = None) -> object:
        file.seek(0)
        return torch.load(file, map_location=place)

    for make, grown in (
        (load, 4096),
        (lambda: load("cuda:0"), 4096),
        (lambda: load("cpu"), 0),
        (lambda: copy.deepcopy(tensor), 4096),
        (lambda: torch.ones(1000).untyped_storage().cuda(), 4096),
    ):
        before = torch.cuda.memory_allocated()
        made = make()
        assert torch.cuda.memory_allocated() - before == grown
        del made
        assert torch.cuda.memory_allocated() == before


def test_default_devices_nest_and_reach_modules() -> None:
    with torch.device("cuda:1"):
        assert {str(t.device) for t in (torch.ones(1), torch.tensor([1]), torch.nn.Linear(1, 1).weight)} == {"cuda:1"}
        with torch.device("cpu"):
            assert str(torch.ones(1).device) == "cpu"
        assert str(torch.get_default_device()) == "cuda:1"
        assert str(torch.ones_like(torch.ones(1, device="cpu")).device) == "cpu"
    torch.set_default_device(1)
    try:
        assert str(torch.arange(2).device) == "cuda:1"
    finally:
        torch.set_default_device(None)
    assert str(torch.ones(1).device) == "cpu"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "profile",
    [
        lambda: torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]),
        lambda: torch.profiler.profile(activities=[ProfilerActivity.CUDA]),
        lambda: torch.profiler.profile(),
        lambda: torch.autograd.profiler.profile(use_device="cuda"),
    ],
    ids=["CPU and CUDA", "CUDA", "as it is", "of autograd"],
)
def test_a_profiler_of_cuda_runs_and_prints_no_failure(capfd: Any, profile: Callable[[], Any]) -> None:
    with torch.profiler.profile(activities=[ProfilerActivity.CPU]):  # a build with CUDA says once that it has no driver
        pass
    capfd.readouterr()
    with profile() as profiled:
        torch.ones(3, device="cuda") + 1
    profiled.key_averages().table(sort_by="cuda_time_total")
    printed = capfd.readouterr().err.splitlines()
    assert [line for line in printed if not line.startswith("USDT:")] == []  # which PyTorch prints on a CPU too


def test_the_dispatcher_is_as_before_when_the_simulation_has_ended() -> None:
    operators = ("aten::empty.memory_format", "aten::empty_strided", "aten::mm", "aten::cat")
    program = f"""
import torch
from samedevice import simulate_cuda
before = [torch._C._dispatch_dump(name) for name in {operators}]
with simulate_cuda(devices=1), torch.autocast("cuda"), torch.autocast("cpu"):
    assert [torch._C._dispatch_dump(name) for name in {operators}] != before
assert [torch._C._dispatch_dump(name) for name in {operators}] == before
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


def test_only_floating_point_tensors_may_require_gradients() -> None:
    assert torch.ones(2, device="cuda", requires_grad=True).is_leaf
    assert torch.tensor([1.0], device="cuda", requires_grad=True).requires_grad
    assert torch.zeros_like(torch.ones(2, device="cuda"), requires_grad=True).is_leaf
    for make in (
        lambda: torch.ones(2, dtype=torch.int64, device="cuda", requires_grad=True),
        lambda: torch.tensor([1], device="cuda", requires_grad=True),
    ):
        with pytest.raises(RuntimeError) as refusal:
            make()
        assert str(refusal.value) == "Only Tensors of floating point and complex dtype can require gradients"


def test_functions_that_were_bound_before_the_simulation_make_tensors_on_a_gpu() -> None:
    made = (
        zeros(2, device="cuda:1"), ones(2, device="cuda:1", requires_grad=True), full((2,), 3, device="cuda:1"),
        arange(3, device="cuda:1"), linspace(0, 1, 3, device="cuda:1"), randperm(3, device="cuda:1"),
        empty_strided((2,), (1,), device="cuda:1"), rand(2, device="cuda:1", generator=torch.Generator("cuda")),
    )  # fmt: skip
    assert {str(tensor.device) for tensor in made} == {"cuda:1"}
    torch.manual_seed(0)
    drawn = randn(3, device="cuda")
    torch.manual_seed(0)
    assert torch.equal(torch.randn(3, device="cuda"), drawn)
    made[1].sum().backward()
    assert made[1].grad.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="Only dense CPU tensors can be pinned"):
        zeros(2, device="cuda", pin_memory=True)


def test_only_memory_of_the_cpu_is_pinned() -> None:
    gpu = torch.ones(2, device="cuda", dtype=torch.float64)
    assert not torch.ones(2).is_pinned()
    assert torch.ones(2).pin_memory().is_pinned()
    assert torch.ones_like(torch.ones(2), pin_memory=True).is_pinned()
    assert not gpu.is_pinned()
    for pin, text in (
        (gpu.pin_memory, "cannot pin 'torch.cuda.DoubleTensor' only dense CPU tensors can be pinned"),
        (lambda: torch.rand(2, device="cuda", pin_memory=True), "Only dense CPU tensors can be pinned"),
        (lambda: gpu.new_empty(2, pin_memory=True), "Only dense CPU tensors can be pinned"),
    ):
        with pytest.raises(RuntimeError) as refusal:
            pin()
        assert str(refusal.value) == text
    assert torch.tensor([1.0], device="cuda", pin_memory=True).is_cuda  # PyTorch looks at the flag on the CPU only


# What pickle says by its newest and by its first protocol.
OBJECTS_OF_CPP: dict[str, tuple[Callable[[], Any], str, str]] = {
    "torch.cuda.Stream": (
        lambda: torch.cuda.Stream(), "cannot pickle 'Stream' object",
        "'Stream' object cannot be interpreted as an integer",
    ),
    "the current stream": (
        lambda: torch.cuda.current_stream(), "cannot pickle 'Stream' object",
        "'Stream' object cannot be interpreted as an integer",
    ),
    "torch.Stream": (
        lambda: torch.Stream("cuda"), "cannot pickle 'torch.Stream' object", "cannot pickle 'Stream' object",
    ),
    "torch.cuda.Event": (
        lambda: torch.cuda.Event(), "cannot pickle 'Event' object",
        "'Event' object cannot be interpreted as an integer",
    ),
    "torch.Event": (
        lambda: torch.Event("cuda"), "cannot pickle 'torch.Event' object", "cannot pickle 'Event' object",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", OBJECTS_OF_CPP)
def test_streams_and_events_are_neither_pickled_nor_copied(kind: str) -> None:
    make, text, first = OBJECTS_OF_CPP[kind]
    for use in (pickle.dumps, copy.copy, copy.deepcopy, lambda x: torch.save({"a": x}, io.BytesIO())):
        with pytest.raises(TypeError) as refusal:
            use(make())
        assert str(refusal.value) == text
    with pytest.raises(TypeError) as refusal:
        pickle.dumps(make(), 0)
    assert str(refusal.value) == first


def test_streams_have_no_order() -> None:
    one, other = torch.cuda.Stream(), torch.cuda.Stream()
    assert [one < other, one <= other, one > other, one >= other, one < 3] == [False] * 5
    assert [one != other, one != 3, one == 3, one == None, one != None] == [True, True, False, False, False]  # noqa: E711


def test_properties_of_a_gpu_are_read_only() -> None:
    told = torch.cuda.get_device_properties(0)
    assert repr(type(told)) == "<class 'torch._C._CudaDeviceProperties'>"
    with pytest.raises(AttributeError) as fixed:
        told.name = "x"
    assert str(fixed.value) == "property of '_CudaDeviceProperties' object has no setter"
    with pytest.raises(TypeError) as refusal:
        copy.deepcopy(told)
    assert str(refusal.value) == "cannot pickle 'torch._C._CudaDeviceProperties' object"


OVERFLOW = "Overflow when unpacking DeviceIndex"
OF_INT8: dict[str, tuple[Callable[[], Any], str]] = {
    "set_device": (lambda: torch.cuda.set_device(1000), "device id must be non-negative!-24"),
    "device": (lambda: torch.cuda.device(1000).__enter__(), OVERFLOW),
    "synchronize": (lambda: torch.cuda.synchronize(1000), OVERFLOW),
    "current_stream": (lambda: torch.cuda.current_stream(1000), OVERFLOW),
    "memory_allocated": (lambda: torch.cuda.memory_allocated(1000), OVERFLOW),
}


@pytest.mark.parametrize("case", OF_INT8)
def test_the_index_of_a_gpu_is_an_int8(case: str) -> None:
    torch.cuda.init()
    use, text = OF_INT8[case]
    with pytest.raises(RuntimeError) as refusal:
        use()
    assert str(refusal.value) == text
    torch.cuda.set_device(257)
    assert torch.cuda.current_device() == 1


OTHER_REFUSALS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "dlpack": (
        lambda: torch.ones(3, device="cuda").__dlpack__(stream=-2), OverflowError,
        "can't convert negative int to unsigned",
    ),
    "event": (
        lambda: torch.cuda.Event(enable_timing="x"), TypeError,  # type: ignore[arg-type]
        "'str' object cannot be interpreted as an integer",
    ),
    "pinned": (
        lambda: torch.ones(3, device="cuda", dtype=torch.bfloat16).pin_memory(), RuntimeError,
        "cannot pin 'CUDABFloat16Type' only dense CPU tensors can be pinned",
    ),
    "map_": (
        lambda: torch.ones(3, device="cuda", dtype=torch.bfloat16).map_(torch.ones(3), max), TypeError,
        "map_: expected CUDABFloat16Type for 'other' (got torch.FloatTensor)",
    ),
    "map2_": (
        lambda: torch.ones(3, device="cuda").map2_(torch.ones(3), torch.ones(3), max), TypeError,
        "map2_: expected torch.cuda.FloatTensor for argument 'x' (got torch.FloatTensor)",
    ),
    "convolution": (
        lambda: F.conv1d(torch.ones(1, 3, 4, device="cuda", dtype=torch.bfloat16), torch.ones(2, 3, 1)), RuntimeError,
        "Input type (CUDABFloat16Type) and weight type (torch.FloatTensor) should be the same",
    ),
    "type": (lambda: torch.ones(3).type("torch.cuda.Foo"), ValueError, "invalid type: 'torch.cuda.Foo'"),
    "attention": (
        lambda: F.scaled_dot_product_attention(
            torch.ones(1, 1, 2, 8, device="cuda").half(), torch.ones(1, 1, 2, 8), torch.ones(1, 1, 2, 8)
        ),
        RuntimeError,
        "Expected query, key, and value to have the same dtype, but got query.dtype: c10::Half key.dtype: float "
        "and value.dtype: float instead.",
    ),
    "error": (lambda: torch.cuda.check_error(2), torch.cuda.CudaError, "out of memory (2)"),
}  # fmt: skip


@pytest.mark.parametrize("case", OTHER_REFUSALS)
def test_what_else_is_refused_in_cudas_words(case: str) -> None:
    use, kind, text = OTHER_REFUSALS[case]
    with pytest.raises(kind) as refusal:
        use()
    assert str(refusal.value) == text


def test_a_bfloat16_tensor_that_was_written_to_has_the_name_that_cpp_gives_it() -> None:
    x = torch.ones(3, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"an inplace operation: \[CUDABFloat16Type \[3\]\], which is output 0"):
        y.sum().backward()


def test_cudnn_and_the_build_can_be_asked_about() -> None:
    cudnn = torch.backends.cudnn
    assert (cudnn.is_available(), cudnn.version()) == (True, 92000)
    x = torch.ones(2, device="cuda")
    assert [cudnn.is_acceptable(each) for each in (x, x.half(), x.long(), x.cpu())] == [True, True, False, False]
    with cudnn.flags(enabled=False):
        assert not cudnn.is_acceptable(x)
    assert cudnn.benchmark_limit == 10
    assert torch.backends.cuda.is_flash_attention_available()
    assert "sm_80" in torch.cuda.get_arch_list()
    assert torch.nn.LSTM(2, 3).cuda()(torch.ones(4, 1, 2, device="cuda"))[0].shape == (4, 1, 3)


def test_a_negative_index_is_no_character_of_a_text() -> None:
    torch.cuda.init()
    for ask in (torch.cuda.memory_allocated, torch.cuda.reset_peak_memory_stats, torch.accelerator.memory_allocated):
        with pytest.raises(UnicodeDecodeError) as error:
            ask(-1)
        assert str(error.value) == "'utf-8' codec can't decode byte 0xff in position 24: invalid start byte"


def test_the_allocator_can_be_switched_on_and_not_off() -> None:
    torch.cuda.init()
    assert torch.cuda.memory.caching_allocator_enable(True) is None  # type: ignore[func-returns-value]
    with pytest.raises(NotImplementedError, match="cannot be switched off"):
        torch.cuda.memory.caching_allocator_enable(False)


def test_ranges_of_nvtx_surround_operators() -> None:
    ranges = torch.autograd.profiler.emit_nvtx()
    with ranges:
        assert (torch.ones(2, device="cuda") + 1).tolist() == [2, 2]
    with pytest.raises(RuntimeError, match=r"^NVTX annotation context manager is not reentrant$"), ranges:
        pass


def test_properties_have_no_other_attributes() -> None:
    with pytest.raises(AttributeError) as error:
        torch.cuda.get_device_properties(0).cores  # noqa: B018
    assert str(error.value) == "'torch._C._CudaDeviceProperties' object has no attribute 'cores'"


def test_what_pytorchs_own_tests_ask_of_the_build_is_answered(two_gpus: None) -> None:
    importlib.import_module("torch.testing._internal.jit_utils")
    major, minor = torch.version.cuda.split(".")
    assert torch._C._cuda_getCompiledVersion() == 1000 * int(major) + 10 * int(minor)
    torch.ones(1, device="cuda")
    assert torch._C._cuda_hasPrimaryContext(1)
    with pytest.raises(RuntimeError) as refusal:
        torch._C._cuda_hasPrimaryContext(7)
    assert str(refusal.value) == "hasPrimaryContext expects a valid device index, but got device_index=7"
    assert not torch._C._cuda_isHistoryEnabled()
    assert torch._C._cuda_isInBadFork() is False
    assert torch._C._cuda_attach_out_of_memory_observer(print) is None
    assert (torch._C._cudart.cudaGetErrorString(0), torch._C._nvtx.rangePushA("a")) == ("no error", -2)
    assert torch._C._cudnn.is_cuda
    assert [torch.backends.cudnn.rnn.get_cudnn_mode(mode) for mode in ("RNN_RELU", "LSTM", "GRU")] == [0, 2, 3]
    torch.cuda.memory._set_memory_metadata("abc")
    assert torch.cuda.memory._get_memory_metadata() == "abc"


def test_a_profiler_supports_cuda() -> None:
    both = {ProfilerActivity.CPU, ProfilerActivity.CUDA}
    assert both <= torch.profiler.supported_activities()
    assert both <= set(torch.profiler.profile().activities)


NO_INDEX = {
    "a name": "cuda:1", "a device": torch.device("cpu"), "half a GPU": 1.5, "more than an int8 holds": 300,
}  # fmt: skip


@pytest.mark.parametrize("case", NO_INDEX)
def test_what_is_no_index_of_an_accelerator_is_refused_in_pybinds_words(case: str) -> None:
    with pytest.raises(TypeError) as error, torch.accelerator.device_index(NO_INDEX[case]):
        pass
    assert str(error.value).startswith(
        "_accelerator_exchangeDevice(): incompatible function arguments. The following argument types are supported:\n"
    )
    assert str(error.value).endswith(f"Invoked with: {NO_INDEX[case]!r}")


def test_an_accelerator_has_no_negative_index() -> None:
    with pytest.raises(torch.AcceleratorError, match="invalid device ordinal"), torch.accelerator.device_index(-1):
        pass
    with torch.accelerator.device_index(1):
        assert torch.cuda.current_device() == 1
    assert torch.cuda.current_device() == 0


READ_ONLY: dict[str, tuple[Callable[[], Any], str, str]] = {
    "device": (lambda: torch.ones(1, device="cuda"), "device", "torch._C.TensorBase"),
    "device of a parameter": (lambda: torch.nn.Parameter(torch.ones(1).cuda()), "device", "torch._C.TensorBase"),
    "device of the CPU's": (lambda: torch.ones(1), "device", "torch._C.TensorBase"),
    "is_cuda": (lambda: torch.ones(1, device="cuda"), "is_cuda", "torch._C.TensorBase"),
    "is_cpu of the CPU's": (lambda: torch.ones(1), "is_cpu", "torch._C.TensorBase"),
    "device of a storage": (lambda: torch.ones(1).cuda().untyped_storage(), "device", "torch._C.StorageBase"),
}


@pytest.mark.parametrize("case", READ_ONLY)
def test_where_a_tensor_is_cannot_be_written(case: str) -> None:
    make, name, kind = READ_ONLY[case]
    x = make()
    for act in (lambda: setattr(x, name, "cpu"), lambda: delattr(x, name)):
        with pytest.raises(AttributeError) as error:
            act()
        assert str(error.value) == f"attribute '{name}' of '{kind}' objects is not writable"


def test_checkpoint_looks_for_its_accelerator_anew() -> None:
    kind = torch.utils.checkpoint.DefaultDeviceType
    assert kind.get_device_type() == "cuda"
    torch.utils.checkpoint.set_device_states([0], [torch.cuda.get_rng_state()])
