"""torch.cuda, torch.accelerator and devices as programs name them: contexts, streams, events, memory, moves."""

import functools

import torch.cuda.comm

# devices and contexts
torch.cuda.current_device() == torch.device("cuda").index, torch.device("cuda", torch.cuda.current_device())
torch.cuda.device_count() > 1 and torch.cuda.get_device_name(1) == torch.cuda.get_device_name("cuda:1")
torch.cuda.get_device_name("gpu")
torch.cuda.get_device_name(torch.device("cpu"))
torch.cuda.get_device_capability("cuda:1") == torch.cuda.get_device_capability(1)
torch.cuda.get_device_capability("cpu")
torch.cuda.get_device_properties("cuda:7")
torch.cuda.get_device_properties().major == torch.cuda.get_device_capability()[0]
torch.cuda.get_device_properties(1.0)
torch.cuda.set_device(h(2).device); torch.cuda.current_device()
torch.cuda.set_device([0, 1])
torch.cuda.set_device("cuda:0,1")
torch.cuda.set_device(True); torch.cuda.current_device()
torch.cuda.set_device(device=1); torch.zeros(1).cuda()
torch.cuda.set_device(1); g(2) + torch.ones(2, device="cuda")
torch.cuda.set_device(1); nn.Linear(2, 2).cuda()(g(1, 2))
torch.cuda.set_device(1); torch.tensor([1.0], device=torch.device("cuda")), torch.as_tensor([1.0], device="cuda"), c(2).to("cuda"), g(2).to("cuda")
torch.cuda.set_device(1); torch.cuda.FloatTensor(2), torch.cuda.current_stream().device, torch.Generator("cuda").device
torch.cuda.set_device(1); torch.cuda.initial_seed() == torch.cuda.default_generators[1].initial_seed()
with torch.cuda.device(h(2).device):
    torch.empty(2, device="cuda"), g(2) * 2, torch.randn_like(g(2))
with torch.cuda.device("cuda"):
    torch.cuda.current_device()
with torch.cuda.device("cpu"):
    torch.zeros(1)
with torch.cuda.device(1.0):
    torch.zeros(1, device="cuda")
with torch.cuda.device("1"):
    torch.zeros(1, device="cuda")
with torch.cuda.device(1) as d:
    d
with torch.cuda.device(1):
    torch.cuda.set_device(0); torch.cuda.current_device()
with torch.cuda.device_of(5):
    torch.cuda.current_device()
with torch.cuda.device_of(nn.Linear(2, 2).cuda(1).weight):
    torch.ones(1, device="cuda")
with torch.device("cuda:1") as d:
    d, torch.zeros(2), torch.tensor([1.0]), torch.empty_like(c(2)), c(2).new_zeros(2)
with torch.device("cuda:1"):
    torch.randn(2) + g(2)
with torch.device("cuda:5"):
    torch.zeros(2)
with torch.device("cuda"):
    torch.from_numpy(__import__("numpy").ones(2)), torch.as_tensor(__import__("numpy").ones(2)), torch.Tensor([1.0])
with torch.device("cuda"):
    nn.LSTMCell(2, 3)(torch.ones(1, 2))[0]
with torch.device("cuda"):
    torch.zeros(2, device="cpu") + torch.zeros(2)
with torch.device("cuda"):
    torch.randn(2, generator=torch.Generator())
with torch.device("cuda"):
    torch.zeros(2, pin_memory=True)
with torch.device("cuda"), torch.device("cpu"):
    torch.zeros(2)
with torch.device("cuda"):
    torch.utils.data.TensorDataset(torch.ones(3, 1), c(3, 1))[0]
with torch.device("cuda:1"):
    F.one_hot(torch.tensor([0, 1]), 2), torch.nn.utils.rnn.pad_sequence([torch.ones(2), torch.ones(3)])
torch.device("cuda:1")(lambda: torch.zeros(2))()
torch.device("cuda")("x")
functools.partial(torch.zeros, 2, device="cuda:1")()
torch.device(torch.device("cuda:1")), torch.device(device="cuda"), torch.device("cuda:1") in [torch.device("cuda", 1)]
torch.device("cuda", "1")
torch.device(0, 1)
torch.device("cuda:1.0")
torch.device(" cuda")
torch.device("cuda:")
torch.device("Cuda:0")
torch.device("cpu", 1), torch.device("cpu:0"), torch.device("meta:0").type
torch.device("cuda").type == "cuda", torch.device("cuda:1") == 1, torch.device("cuda:1") != torch.device("cuda:0"), {torch.device("cuda:0"): 1}[torch.device("cuda", 0)]
torch.device("cuda:0") < torch.device("cuda:1")
torch.device("cuda:0").foo
torch.device("cuda:0").index + 1, bool(torch.device("cpu")), f"{torch.device('cuda', 1)}", "%s" % torch.device("cuda")
torch.device("cuda:0").type = "cpu"
str(g(2).device).split(":"), g(2).device.type + ":" + str(h(2).device.index)
torch.set_default_device(torch.device("cuda:1")); r = [torch.arange(3), torch.full((2,), 1.0), torch.stack([torch.ones(1), torch.zeros(1)]), torch.zeros(2).device]; torch.set_default_device("cpu"); r
torch.set_default_device("cuda"); r = nn.Embedding(3, 2)(torch.tensor([0])), torch.randperm(3), torch.linspace(0, 1, 2); torch.set_default_device(None); r
torch.set_default_device("cuda:7"); torch.zeros(1)
torch.set_default_device(1); r = torch.zeros(1); torch.set_default_device(None); r
torch.set_default_device(c(2))
torch.get_default_device(), torch.get_default_dtype()
torch.set_default_dtype(torch.float16); r = torch.ones(2, device="cuda"), g(2), torch.tensor(1.5, device="cuda:1"); torch.set_default_dtype(torch.float32); r
# moves
c(2).to("cuda:0", non_blocking=True), c(2).cuda(1, non_blocking=True), g(2).cpu().to(device="cuda:1", copy=True)
c(2).cuda(non_blocking=True, async_=True)
c(2).to(h(2), non_blocking=True), c(2).to(other=h(2).half())
c(2).to("cuda", torch.float64, True), c(2).to(torch.float64, True), c(2).to("cuda:1", dtype=None)
c(2).to(device="cuda", device_type="x")
c(2).to("cuda", "float16")
c(2).to(torch.device("cuda"), memory_format=torch.channels_last)
c(1, 2, 3, 4).to("cuda", memory_format=torch.channels_last).stride()
c(2).to(dtype=torch.half, device="cuda:9")
c(2).to("CUDA:0")
c(2).to(device=None), g(2).to(dtype=torch.int8), g(2).to(torch.device("cuda", 0)).data_ptr() != 0
c(2).to(torch.cuda), 1
c(2).cuda(True), c(2).cuda(device="cuda")
c(2).cuda(1.0)
c(2).cuda("1")
c(2).cuda([0])
c(2).cuda(0, 1, 2)
g(2).cpu("cuda")
g(2).cpu(memory_format=torch.preserve_format)
c(2).cuda(memory_format=torch.preserve_format)
c(2).xpu()
c(2).mps()
c(2).hip()
g(2).type("torch.cuda.LongTensor"), g(2).type(torch.LongTensor), g(2).type(torch.int8), c(2).type(h(2).type())
g(2).type("cuda")
g(2).type(torch.cuda.NoTensor)
g(2).long().type(), h(2).type(), g(2).bool().type(), g(2, dtype=torch.complex64).type()
g(2).new(3), h(2).new([1.0, 2.0]), h(2).new().shape, h(2).new(2, 3).fill_(1)
g(2).new(c(2))
g(2).new(h(2))
g(2).new(2, device="cpu")
g(2).new_tensor(c(2)), h(2).new_tensor(g(2)), g(2).new_full((2,), 3), g(2).new_empty_strided((2,), (1,)), g(2).new_ones(2, device="cuda:1", dtype=torch.long)
g(2).new_zeros(2, device="cuda:4")
c(2).new_tensor(g(2)), c(2).new_tensor([g(), h()])
g(2).half().cpu().float().cuda(1), g(2).float(), h(2).int(), g(2).bfloat16(), g(2).to(torch.complex64)
torch.zeros_like(h(2), device="cpu"), torch.ones_like(c(2), device="cuda"), torch.full_like(c(2), 3.0, device="cuda:1"), torch.rand_like(h(2)), torch.randint_like(g(2), 3)
torch.empty_like(c(2), device=5)
torch.tensor([1.0], device=g(2).device), torch.tensor(3, device=1), torch.tensor([[1, 2]], device="cuda", requires_grad=False)
torch.tensor([1], device="cuda", requires_grad=True)
torch.tensor(1.0, device="cuda", requires_grad=True), torch.tensor([], device="cuda:1"), torch.tensor([True], device="cuda")
torch.tensor([[1.0], [2.0, 3.0]], device="cuda")
torch.tensor([g(), 2.0]), torch.tensor([h(1), 3.0], device="cuda")
torch.tensor([g(2), g(3)])
torch.tensor(h(2), device="cuda:0", dtype=torch.half), torch.tensor(c(2), device="cuda"), torch.tensor([1.0]).new_tensor(h(2))
torch.scalar_tensor(2, device="cuda"), torch.complex(g(2), g(2)), torch.tril_indices(2, 2, device="cuda"), torch.hann_window(4, device="cuda:1"), torch.logspace(0, 1, 2, device="cuda")
torch.empty_strided((2, 2), (2, 1), device="cuda"), torch.empty_permuted((2, 3), (1, 0), device="cuda:1"), torch.sparse_coo_tensor(size=(2, 2), device="cuda")
torch.zeros(2, device="cuda").pin_memory()
torch.empty(2, pin_memory=True).to("cuda", non_blocking=True), torch.empty(2).pin_memory().is_pinned(), torch.ones(2, pin_memory=True).cuda().is_pinned()
c(2).pin_memory().device, c(2).pin_memory().pin_memory().is_pinned(), c(2).pin_memory().clone().is_pinned(), c(4).pin_memory()[1:].is_pinned()
c(2).pin_memory("cpu")
c(2).is_pinned("cuda"), c(2).is_pinned(device="cpu")
c(2).to_sparse().pin_memory().is_pinned()
torch.nn.utils.rnn.pack_sequence([c(2), c(1)]).pin_memory().is_pinned(), torch.nn.utils.rnn.pack_sequence([c(2), c(1)]).cuda().data
torch.nn.utils.rnn.pack_sequence([g(2), g(1)]).is_cuda, torch.nn.utils.rnn.pack_sequence([g(2), g(1)]).batch_sizes.device
torch.nn.utils.rnn.pack_sequence([g(2), c(1)])
torch.nn.utils.rnn.pad_sequence([g(2), h(3)])
torch.nn.utils.rnn.pad_packed_sequence(torch.nn.utils.rnn.pack_sequence([h(3, 2), h(1, 2)]))
torch.nn.utils.rnn.unpack_sequence(torch.nn.utils.rnn.pack_sequence([h(3, 2), h(1, 2)]))
torch.nn.utils.rnn.pack_padded_sequence(g(3, 2, 1), torch.tensor([3, 2]).cuda())
torch.nn.utils.rnn.pack_padded_sequence(g(3, 2, 1), [3, 2], enforce_sorted=False).unsorted_indices
torch.nn.utils.rnn.pack_padded_sequence(g(3, 2, 1), [2, 3])
# streams and events
s = torch.cuda.Stream(); s.wait_stream(torch.cuda.current_stream(1)), s.device
torch.cuda.Stream(priority=-1).device, torch.cuda.Stream.priority_range()
torch.cuda.Stream("cuda:1").device, torch.cuda.Stream(torch.device("cuda")).device
torch.cuda.Stream("gpu")
torch.cuda.Stream(1.5)
torch.cuda.Stream(priority="high")
torch.cuda.Stream() == None, torch.cuda.current_stream() in [torch.cuda.default_stream()], hash(torch.cuda.Stream()) is None
torch.cuda.default_stream(1).device, torch.cuda.default_stream("cuda:1") == torch.cuda.current_stream(1)
torch.cuda.default_stream("cpu")
torch.cuda.default_stream(4)
repr(torch.cuda.default_stream()), repr(torch.cuda.Event()).split()[0]
with torch.cuda.stream(torch.cuda.Stream(1)):
    g(2) + torch.ones(2, device="cuda")
with torch.cuda.stream(torch.cuda.Stream("cuda:1")):
    torch.cuda.current_stream(0) == torch.cuda.default_stream(0), torch.cuda.current_stream().device
with torch.cuda.stream(torch.cuda.Event()):
    1
with torch.cuda.stream(1):
    1
with torch.Stream("cuda:1") as s:
    torch.cuda.current_device(), torch.accelerator.current_stream().device, s.device
torch.Stream("cuda").query(), torch.Stream("cuda").synchronize(), torch.Stream("cuda", priority=-1).device
torch.Stream("cuda:4")
torch.Stream(device="cuda:1").record_event().device
torch.Stream("cuda").wait_event(torch.Event("cuda")), torch.Stream("cuda").wait_stream(torch.cuda.Stream())
torch.Stream(5)
isinstance(torch.cuda.Stream(), torch.Stream), isinstance(torch.cuda.Event(), torch.Event), isinstance(torch.Stream("cuda"), torch.cuda.Stream)
e = torch.Event("cuda:1", enable_timing=True); e.record(); e.device, e.query()
e = torch.Event("cuda"); e.record(torch.cuda.current_stream(1)); e.device
e = torch.Event("cuda", enable_timing=True); f = torch.Event("cuda", enable_timing=True); e.record(); f.record(); e.elapsed_time(f)
e = torch.Event(); f = torch.Event(); e.record(); f.record(); e.elapsed_time(f)
torch.Event("cuda", interprocess=True), torch.Event(device="cuda:3")
torch.Event("cuda").elapsed_time(5)
torch.cuda.Event(enable_timing=True).record(torch.cuda.Stream(1)), torch.cuda.Event(True).query()
torch.cuda.Event(timing=True)
torch.cuda.Event().wait(torch.cuda.Stream(1)), torch.cuda.Event().wait(None)
torch.cuda.Event().wait("x")
torch.Event("cuda").ipc_handle()
torch.cuda.current_stream().wait_event(None)
torch.cuda.current_stream().record_event(torch.cuda.Event(enable_timing=True)), torch.cuda.current_stream("cuda:1").synchronize()
torch.cuda.set_stream(None)
torch.cuda.set_stream(torch.cuda.Stream("cuda:1")); c(2).cuda(), torch.cuda.current_stream().device_index
torch.cuda.set_stream(torch.Stream("cuda:1"))
torch.cuda.synchronize("cuda"), torch.cuda.synchronize(torch.device("cuda:1")), torch.cuda.synchronize(None), torch.cuda.synchronize(-1)
torch.cuda.synchronize(torch.device("cpu"))
torch.cuda.synchronize("gpu")
torch.cuda.synchronize(1.0)
torch.cuda.synchronize(g(2))
torch.cuda.synchronize("cuda:9")
torch.accelerator.synchronize("cuda:1"), torch.accelerator.synchronize(1), torch.accelerator.synchronize(torch.device("cuda"))
torch.accelerator.synchronize("cpu")
x = g(2); torch.accelerator.synchronize(7)
torch.accelerator.current_stream("cuda:1").device, torch.accelerator.current_stream("cuda:1") == torch.cuda.current_stream(1)
torch.accelerator.current_stream("cpu")
torch.accelerator.set_stream(torch.cuda.Stream(1)), torch.accelerator.current_device_index()
torch.accelerator.set_device_index("cuda:1"), torch.accelerator.current_device_index()
torch.accelerator.set_device_index("cpu")
torch.accelerator.set_device_index(-1); torch.accelerator.current_device_index()
torch.accelerator.current_accelerator().index, torch.accelerator.current_accelerator(check_available=True), torch.accelerator.current_device_idx()
torch.accelerator.set_device_idx(1), torch.cuda.current_device()
torch.zeros(2, device=torch.accelerator.current_accelerator()), torch.ones(2).to(torch.accelerator.current_accelerator())
with torch.accelerator.device_index(None):
    torch.accelerator.current_device_index()
with torch.accelerator.device_index(5):
    torch.zeros(1, device="cuda")
torch.accelerator.memory_stats(5)
torch.accelerator.memory_reserved("cuda:1"), torch.accelerator.max_memory_reserved(), torch.accelerator.reset_peak_memory_stats(1)
torch.accelerator.get_memory_info(1)[1] == torch.cuda.mem_get_info(1)[1]
torch.accelerator.get_device_capability("cuda:1")
# memory
x = g(300); y = x + 1; torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated()
x = g(300); x = x.cpu(); torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated()
x = c(300).cuda(1); torch.cuda.memory_allocated(1), torch.cuda.memory_allocated("cuda:1"), torch.cuda.memory_allocated()
x = g(300); x.add_(1); x.mul_(x); torch.cuda.max_memory_allocated()
x = g(300); del x; torch.cuda.reset_peak_memory_stats(0); torch.cuda.max_memory_allocated(), torch.cuda.memory_allocated()
x = [g(1) for _ in range(3)]; torch.cuda.memory_allocated(), torch.cuda.memory_stats()["allocation.all.current"], torch.cuda.memory_reserved()
m = nn.Linear(8, 8).cuda(); torch.cuda.memory_allocated()
m = nn.Linear(8, 8).cuda(); m.cpu(); torch.cuda.memory_allocated()
x = g(4, requires_grad=True); y = x * 2; y.sum().backward(); torch.cuda.memory_allocated()
x = torch.empty(2 ** 20, device="cuda"); y = x[:10].clone(); del x; torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
x = torch.empty(2 ** 21, dtype=torch.uint8, device="cuda"); torch.cuda.memory_reserved(), torch.cuda.memory_stats()["reserved_bytes.large_pool.current"]
x = torch.empty(11 * 2 ** 20, dtype=torch.uint8, device="cuda"); torch.cuda.memory_reserved(), torch.cuda.memory_stats()["inactive_split_bytes.all.current"]
torch.cuda.max_memory_cached(), torch.cuda.memory_cached()
torch.cuda.max_memory_allocated("cpu")
torch.cuda.max_memory_allocated(g(2))
torch.cuda.memory_allocated("gpu")
torch.cuda.memory_allocated(1.5)
torch.cuda.memory_reserved(-1), torch.cuda.memory_allocated(None)
torch.cuda.memory_summary("cuda:1", abbreviated=True).splitlines()[1].strip()
torch.cuda.empty_cache(1)
torch.cuda.reset_peak_memory_stats("cpu")
torch.cuda.reset_max_memory_cached(), torch.cuda.reset_peak_host_memory_stats(), torch.cuda.reset_accumulated_host_memory_stats()
torch.cuda.set_per_process_memory_fraction(0.5, "cuda:1"), torch.cuda.get_per_process_memory_fraction("cuda:1")
torch.cuda.set_per_process_memory_fraction(-0.1)
torch.cuda.set_per_process_memory_fraction(1)
torch.cuda.mem_get_info(torch.device("cuda:1"))[0] <= torch.cuda.mem_get_info(1)[1], type(torch.cuda.mem_get_info()).__name__
torch.cuda.memory.caching_allocator_enable(True)
torch.cuda.is_current_stream_capturing(), torch.cuda.is_tf32_supported() in (True, False), torch.cuda.is_initialized()
torch.cuda.can_device_access_peer("cuda:0", 1)
torch.cuda.can_device_access_peer(2, 0)
torch.cuda.can_device_access_peer(0)
torch.cuda.can_device_access_peer(1, -1)
torch.cuda.nvtx.mark("here"), torch.cuda.nvtx.range_start("a"), torch.cuda.nvtx.range_pop()
with torch.cuda.nvtx.range("step {}", 5):
    g(2) + c()
with torch.profiler.record_function("step"):
    g(2) + c(2)
with torch.autograd.profiler.emit_nvtx():
    g(2) + 1
torch.cuda.cudart() is not None
torch.cuda.lazy_init is not None
torch.cuda.comm.broadcast_coalesced([g(2), g(3)], [0, 1])
torch.cuda.comm.broadcast_coalesced([g(2), c(3)], [0, 1])
torch.cuda.comm.broadcast(g(2), devices=["cuda:1", "cuda:0"])
torch.cuda.comm.broadcast(g(2), [0, 7])
torch.cuda.comm.broadcast(g(2), [])
torch.cuda.comm.broadcast(g(2), [0, 1], out=[torch.zeros(2, device="cuda:1")])
torch.cuda.comm.scatter(g(4, 2), ["cuda:1", "cuda:0"], dim=1)
torch.cuda.comm.scatter(g(4), [0, 1], dim=3)
torch.cuda.comm.scatter(g(4), [])
torch.cuda.comm.scatter(c(3), [0, 1], streams=[torch.cuda.Stream(0), None])
torch.cuda.comm.scatter(g(4), out=[g(2), h(2)])
torch.cuda.comm.scatter(g(4), out=[g(2), c(2)])
torch.cuda.comm.gather([h(2), g(2)], dim=0, destination=0)
torch.cuda.comm.gather([g(2), h(2)], destination=7)
torch.cuda.comm.gather([g(2), h(2)], out=g(4)), torch.cuda.comm.gather([g(2), h(2)], out=c(4))
torch.cuda.comm.gather([])
torch.cuda.comm.gather([g(2, 2), h(2, 2)], dim=1, destination=-1)
torch.cuda.comm.reduce_add([])
torch.cuda.comm.reduce_add_coalesced([[g(2), g(3)], [h(2), h(3)]]), torch.cuda.comm.reduce_add([h(2), g(2)])
torch.cuda.comm.reduce_add([g(2), g(2)])
torch.get_device_module(torch.device("cuda:1")).__name__, torch.get_device_module("cpu").__name__
torch.get_device_module(5)
torch.cpu.is_available(), torch.cpu.current_device(), torch.cpu.device_count(), torch.cpu.synchronize(), torch.cpu.current_stream() is not None
torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.enabled, torch.backends.cudnn.is_available(), torch.backends.cuda.is_built()
torch.backends.cudnn.is_acceptable(g(2)), torch.backends.cudnn.is_acceptable(c(2))
torch.backends.cuda.flash_sdp_enabled(), torch.backends.cuda.math_sdp_enabled(), torch.backends.cuda.mem_efficient_sdp_enabled()
torch.backends.cuda.preferred_linalg_library("magma"), torch.backends.cuda.preferred_linalg_library()
torch.backends.cuda.cufft_plan_cache.max_size, torch.backends.cuda.cufft_plan_cache[1].size
with torch.backends.cudnn.flags(enabled=False):
    nn.Conv2d(1, 1, 3).cuda()(c(1, 1, 5, 5))
with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
    F.scaled_dot_product_attention(g(1, 1, 2, 8), g(1, 1, 2, 8), c(1, 1, 2, 8))
torch.get_float32_matmul_precision(), torch.set_float32_matmul_precision("high"), torch.are_deterministic_algorithms_enabled()
