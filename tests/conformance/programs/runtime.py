"""torch.cuda and torch.accelerator: the current device, streams, memory, and their errors."""

import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn


def _where(*tensors):
    return [str(tensor.device) for tensor in tensors]


def what_is_there():
    return [
        torch.cuda.is_available(),
        torch.cuda.device_count(),
        torch.cuda.current_device(),
        str(torch.accelerator.current_accelerator()),
    ]


def the_accelerator_module():
    return [
        torch.accelerator.is_available(), torch.accelerator.device_count(), torch.accelerator.current_device_index(),
        str(torch.get_device_module().__name__), str(torch.get_device_module("cuda").__name__),
    ]  # fmt: skip


def the_current_device_is_where_cuda_means():
    torch.cuda.set_device("cuda:1")
    try:
        return _where(torch.zeros(1, device="cuda"), torch.zeros(1).cuda(), nn.Linear(1, 1).to("cuda").weight)
    finally:
        torch.cuda.set_device(0)


def device_contexts_nest():
    seen = [torch.cuda.current_device()]
    with torch.cuda.device(1):
        seen.append(torch.cuda.current_device())
        with torch.cuda.device("cuda:0"):
            seen.append(str(torch.zeros(1, device="cuda").device))
        seen.append(torch.cuda.current_device())
    with torch.cuda.device_of(torch.zeros(1, device="cuda:1")):
        seen.append(torch.cuda.current_device())
    with torch.cuda.device(None):
        seen.append(torch.cuda.current_device())
    return [*seen, torch.cuda.current_device()]


def a_device_context_ends_with_an_error():
    try:
        with torch.cuda.device(1):
            raise KeyError("x")
    except KeyError:
        return torch.cuda.current_device()


def each_thread_has_its_own_current_device():
    torch.cuda.set_device(1)
    try:
        with ThreadPoolExecutor(1) as pool:
            return [pool.submit(torch.cuda.current_device).result(), torch.cuda.current_device()]
    finally:
        torch.cuda.set_device(0)


def a_thread_makes_tensors_on_its_device():
    found = []

    def work(index):
        torch.cuda.set_device(index)
        found.append((index, str(torch.zeros(1, device="cuda").device)))

    threads = [threading.Thread(target=work, args=(index,)) for index in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [*sorted(found), torch.cuda.current_device()]


def set_device_that_is_not_there():
    torch.cuda.set_device(5)


def set_device_to_the_cpu():
    torch.cuda.set_device("cpu")


def set_device_negative():
    torch.cuda.set_device(-1)
    return torch.cuda.current_device()


def properties_of_a_gpu_that_is_not_there():
    torch.cuda.get_device_properties(2)


def name_of_a_gpu_that_is_not_there():
    torch.cuda.get_device_name(7)


def capability_of_a_gpu_that_is_not_there():
    torch.cuda.get_device_capability("cuda:3")


def synchronize_a_gpu_that_is_not_there():
    torch.cuda.synchronize(9)


def synchronize_the_cpu():
    torch.cuda.synchronize("cpu")


def memory_of_a_gpu_that_is_not_there():
    torch.cuda.mem_get_info(4)


def memory_statistics_of_a_gpu_that_is_not_there():
    return torch.cuda.memory_allocated(4)


def a_context_of_a_gpu_that_is_not_there():
    with torch.cuda.device(3):
        pass


def a_stream_of_a_gpu_that_is_not_there():
    torch.cuda.Stream(device=4)


def current_stream_of_the_cpu():
    torch.cuda.current_stream("cpu")


def peers():
    return [torch.cuda.can_device_access_peer(0, 1), torch.cuda.can_device_access_peer(1, 0)]


def peers_that_are_not_there():
    torch.cuda.can_device_access_peer(0, 2)


def accelerator_index_that_is_not_there():
    torch.accelerator.set_device_index(6)


def accelerator_device_index_context():
    with torch.accelerator.device_index(1):
        inside = torch.zeros(1, device="cuda")
    return [*_where(inside), torch.accelerator.current_device_index()]


def initialised():
    torch.zeros(1, device="cuda")
    return torch.cuda.is_initialized()


def properties_have_their_fields():
    properties = torch.cuda.get_device_properties(1)
    fields = ("name", "major", "minor", "total_memory", "multi_processor_count", "warp_size", "uuid", "L2_cache_size")
    return [type(getattr(properties, field)).__name__ for field in fields[:6]]


def capability_is_a_pair():
    pair = torch.cuda.get_device_capability()
    return [isinstance(pair, tuple), len(pair), all(isinstance(x, int) for x in pair)]


def memory_counts_blocks_of_512_bytes():
    gc.collect()
    before = torch.cuda.memory_allocated(1)
    x = torch.empty(1000, device="cuda:1")
    held = torch.cuda.memory_allocated(1) - before
    del x
    return [held, torch.cuda.memory_allocated(1) - before]


def memory_of_the_other_gpu_is_its_own():
    gc.collect()
    before = torch.cuda.memory_allocated(0), torch.cuda.memory_allocated(1)
    x = torch.empty(256, device="cuda:1")
    return [torch.cuda.memory_allocated(0) - before[0], torch.cuda.memory_allocated(1) - before[1], x.nbytes]


def a_view_needs_no_memory():
    x = torch.empty(1024, device="cuda")
    before = torch.cuda.memory_allocated()
    y = x.view(2, 512)[0]
    return [torch.cuda.memory_allocated() - before, y.numel()]


def the_peak_is_remembered_and_reset():
    gc.collect()
    torch.cuda.reset_peak_memory_stats()
    base = torch.cuda.memory_allocated()
    x = torch.empty(2048, device="cuda")
    del x
    peak = torch.cuda.max_memory_allocated() - base
    torch.cuda.reset_peak_memory_stats()
    return [peak, torch.cuda.max_memory_allocated() - base]


def a_cpu_tensor_needs_no_gpu_memory():
    before = torch.cuda.memory_allocated()
    x = torch.empty(4096)
    return [torch.cuda.memory_allocated() - before, x.numel()]


def memory_info_is_a_pair():
    free, total = torch.cuda.mem_get_info()
    return [isinstance(free, int), 0 < free <= total, total == torch.cuda.get_device_properties(0).total_memory]


def streams_compare():
    one, two, current = torch.cuda.Stream(), torch.cuda.Stream(), torch.cuda.current_stream()
    same = [current == torch.cuda.default_stream(), one == two, one == one, one == current]
    return [*same, *_where(one, torch.cuda.current_stream(1)), one.query(), isinstance(one, torch.Stream)]


def a_stream_is_current_in_its_context():
    stream = torch.cuda.Stream(device=1)
    with torch.cuda.stream(stream):
        inside = [
            torch.cuda.current_stream() == stream,
            torch.cuda.current_device(),
            *_where(torch.zeros(1, device="cuda")),
        ]
    return [*inside, torch.cuda.current_stream() == stream, torch.cuda.current_device()]


def a_stream_that_is_none():
    with torch.cuda.stream(None):
        return torch.cuda.current_stream() == torch.cuda.default_stream()


def set_stream_stays():
    stream, before = torch.cuda.Stream(), torch.cuda.current_stream()
    torch.cuda.set_stream(stream)
    try:
        return torch.cuda.current_stream() == stream
    finally:
        torch.cuda.set_stream(before)


def streams_wait_for_each_other():
    one, two = torch.cuda.Stream(), torch.cuda.Stream()
    event = one.record_event()
    two.wait_event(event)
    two.wait_stream(one)
    x = torch.zeros(2, device="cuda")
    x.record_stream(two)
    return [event.query(), type(event).__name__]


def events_measure_time():
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    end.record()
    torch.cuda.synchronize()
    return isinstance(start.elapsed_time(end), float)


def events_without_timing():
    start, end = torch.cuda.Event(), torch.cuda.Event()
    start.record()
    end.record()
    start.elapsed_time(end)


def events_never_recorded():
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.elapsed_time(end)


def capturing():
    return torch.cuda.is_current_stream_capturing()


def device_objects():
    return [
        str(torch.device("cuda", 1)), repr(torch.device("cuda:1")), str(torch.device(1)),
        torch.device("cuda") == torch.device("cuda", 0),
        torch.device("cuda:99").index, torch.device(type="cuda", index=1).type,
    ]  # fmt: skip


def a_device_with_two_indices():
    torch.device("cuda:0", 1)


def a_device_type_that_does_not_exist():
    torch.device("gpu:0")


def an_index_that_is_no_number():
    torch.device("cuda:one")


def backends_and_builds():
    return [torch.backends.cuda.is_built(), isinstance(torch.version.cuda, str), torch.cuda.is_bf16_supported()]


def nvtx_ranges():
    with torch.cuda.nvtx.range("forward"):
        return torch.zeros(1, device="cuda").is_cuda


def functions_that_only_have_to_exist():
    torch.cuda.empty_cache()
    torch.cuda.ipc_collect()
    torch.cuda.synchronize()
    torch.cuda.synchronize("cuda:1")
    torch.accelerator.synchronize()
    torch.cuda.init()
    return [isinstance(torch.cuda.memory_summary(), str), isinstance(torch.cuda.memory_stats(), dict)]


def memory_statistics_by_name():
    gc.collect()
    before = torch.cuda.memory_stats()
    x = torch.empty(100, device="cuda")
    after = torch.cuda.memory_stats()
    keys = (
        "allocated_bytes.all.current",
        "allocation.all.current",
        "requested_bytes.all.current",
        "active.all.current",
    )
    return [x.numel(), *(after[key] - before[key] for key in keys)]


def a_graph_pool_handle():
    return [isinstance(torch.cuda.graph_pool_handle(), tuple)]
