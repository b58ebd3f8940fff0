"""torch.cuda: devices, contexts, streams, events, memory, random numbers, graphs."""

import torch.cuda.comm

# devices
torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.current_device(), torch.cuda.is_initialized()
torch.cuda.set_device(1); torch.cuda.current_device(), torch.ones(2, device="cuda"), c(2).cuda()
torch.cuda.set_device("cuda:1"); torch.cuda.current_device()
torch.cuda.set_device(torch.device("cuda", 1)); torch.cuda.current_device()
torch.cuda.set_device("cuda"); torch.cuda.current_device()
torch.cuda.set_device(-1); torch.cuda.current_device()
torch.cuda.set_device(2)
torch.cuda.set_device("cpu")
torch.cuda.set_device("gpu")
torch.cuda.set_device("cuda:2")
torch.cuda.set_device(None)
torch.cuda.set_device(1.0)
torch.cuda.set_device("1")
torch.cuda.get_device_properties(2)
torch.cuda.get_device_properties("cpu")
torch.cuda.get_device_properties(-1)
torch.cuda.get_device_name(2)
torch.cuda.get_device_name("cpu")
torch.cuda.get_device_capability(5)
type(torch.cuda.get_device_name()), type(torch.cuda.get_device_properties(0)).__name__, torch.cuda.get_device_name(0) == torch.cuda.get_device_name(torch.device("cuda"))
type(torch.cuda.get_device_properties(0).total_memory), type(torch.cuda.get_device_properties(0).name), torch.cuda.get_device_properties(0).major
torch.cuda.get_device_properties(0).warp_size
torch.cuda.get_device_properties(0).total_memory == torch.cuda.mem_get_info()[1]
torch.cuda.can_device_access_peer(0, 1)
torch.cuda.can_device_access_peer(0, 0)
torch.cuda.can_device_access_peer(0, 5)
torch.cuda.can_device_access_peer(-1, 0)
torch.cuda.device(5).idx
torch.cuda.device("cuda:1").idx, torch.cuda.device(torch.device("cuda")).idx, torch.cuda.device("cuda").idx
torch.cuda.device("cpu")
torch.cuda.device(None).idx
torch.cuda.device_of(h(2)).idx, torch.cuda.device_of(c(2)).idx
with torch.cuda.device(1):
    torch.cuda.current_device(), torch.ones(2, device="cuda"), torch.device("cuda"), c(2).cuda().device
with torch.cuda.device(2):
    torch.ones(2, device="cuda")
with torch.cuda.device("cuda:1"):
    torch.ones(2).cuda(), torch.Tensor([1.0]).to("cuda"), g(2).cuda()
with torch.cuda.device(-1):
    torch.cuda.current_device()
with torch.cuda.device_of(h(2)):
    torch.cuda.current_device()
with torch.cuda.device_of(c(2)):
    torch.cuda.current_device()
with torch.cuda.device(1), torch.cuda.device(0):
    torch.cuda.current_device()
with torch.device("cuda:1"):
    torch.cuda.current_device(), torch.ones(2)
with torch.device("cuda"), torch.cuda.device(1):
    torch.ones(2)
with torch.device(1):
    torch.ones(2)
torch.device("cuda", 5), torch.device("cuda:1").index, torch.device("cuda").index
torch.device(1), torch.device("cuda:0") == torch.device("cuda"), torch.device("cuda:0") == "cuda:0"
torch.device("cuda:-1")
torch.device("cuda:01")
torch.device("cuda: 1")
torch.device("CUDA")
torch.device("gpu")
torch.device("cuda:0:1")
torch.device("cuda", -1)
torch.device("cuda:1", 0)
torch.device("")
torch.device(-1)
torch.device(None)
torch.device(1.5)
torch.device(index=1)
torch.device("cuda", index=1), torch.device(type="cuda"), torch.device(type="cuda", index=1)
repr(torch.device("cuda:1")), str(torch.device("cuda"))
torch.ones(2, device="cuda:5")
torch.ones(2, device=5)
torch.ones(2, device=1)
torch.ones(2, device=-1)
torch.ones(2, device="cuda:256")
torch.ones(2, device="cuda:128")
torch.ones(2, device="gpu:0")
torch.ones(2, device="mps")
torch.ones(2, device="xpu")
torch.ones(2, device="hip")
torch.ones(2, device=True)
torch.ones(2, device=None)
torch.ones(2, device=["cuda"])
torch.ones(2, device=g(2))
torch.ones(2, device=h(2).device)
c(2).to(5)
c(2).to("cuda:7")
c(2).cuda(3)
c(2).cuda("cuda:1")
c(2).cuda("cpu")
c(2).cuda(-1)
c(2).cuda(device=1), c(2).cuda(None), c(2).cuda(torch.device("cuda:1"))
c(2).to(1), c(2).to(h(3)), c(2).to("cuda", 1)
c(2).to(device=1, dtype=torch.float16)
c(2).to(-1)
c(2).to("cpu:0").device, torch.ones(2, device="cpu:0").device
c(2).to("cpu:1")
g(2).cuda() is not None, g(2).get_device(), c(2).get_device(), h(2).get_device()
g(2).to("cuda"), h(2).to("cuda")
h(2).new_ones(3), h(2).new_tensor([1.0]), h(2).new_empty(2, device="cpu"), h(2).new_zeros((), dtype=torch.long)
torch.randn(2, device="cuda:1"), torch.randperm(3, device="cuda"), torch.arange(3, device="cuda"), torch.eye(2, device="cuda:1"), torch.linspace(0, 1, 3, device="cuda")
torch.tensor([g(1), c(1)], device="cuda")
torch.tensor([c(), c()], device="cuda")
torch.as_tensor(h(2)), torch.as_tensor(h(2), device="cuda:0"), torch.asarray(h(2), device="cpu"), torch.asarray(c(2), device="cuda")
torch.asarray(c(2), device="cuda", copy=False)
torch.asarray(g(2), copy=True)
torch.full((2,), g(), device="cuda")
torch.full((2,), 1.0, device="cuda:1", dtype=torch.long)
torch.zeros(2, device="cuda", pin_memory=True)
torch.zeros(2, pin_memory=True).is_pinned()
torch.zeros(2).pin_memory("cuda").is_pinned()
g(2).pin_memory()
g(2).is_pinned()
torch.cuda.FloatTensor(2)
torch.cuda.FloatTensor([1.0, 2.0])
torch.cuda.LongTensor([1]).type(), torch.cuda.HalfTensor(2).dtype, torch.cuda.ByteTensor(1).device
c(2).type(torch.cuda.FloatTensor), c(2).type("torch.cuda.HalfTensor"), h(2).type(torch.FloatTensor), h(2).type("torch.cuda.DoubleTensor")
isinstance(g(2), torch.cuda.FloatTensor), isinstance(c(2), torch.cuda.FloatTensor), isinstance(g(2), torch.FloatTensor), isinstance(g(2), torch.Tensor)
torch.cuda.FloatTensor(c(2))
torch.cuda.FloatTensor(2, device="cpu")
torch.FloatTensor(g(2))
torch.Tensor(g(2))
g(2).type(), c(2).type(), g(2).half().type(), h(2, dtype=torch.bool).type()
torch.set_default_device("cuda:1"); r = [torch.ones(2), torch.tensor(1), torch.get_default_device(), torch.Tensor(2), nn.Linear(2, 2).weight]; torch.set_default_device(None); r
torch.set_default_device("cuda"); r = [torch.ones(2), torch.get_default_device(), torch.randn(2), torch.Generator().device]; torch.set_default_device(None); r
torch.set_default_device("gpu")
torch.set_default_device(5); torch.set_default_device(None)
torch.set_default_tensor_type("torch.cuda.FloatTensor"); r = [torch.ones(2), torch.tensor(1.0), torch.Tensor([1.0])]; torch.set_default_tensor_type("torch.FloatTensor"); r
# streams and events
torch.cuda.current_stream(), torch.cuda.current_stream() == torch.cuda.default_stream()
torch.cuda.Stream().device, torch.cuda.Stream(1).device, torch.cuda.Stream(device="cuda:1").device_index
torch.cuda.Stream(device="cpu")
torch.cuda.Stream(device=5)
torch.cuda.Stream(device=-1)
torch.cuda.current_stream("cpu")
torch.cuda.current_stream(5)
torch.cuda.Stream() == torch.cuda.Stream()
torch.cuda.Stream().query(), torch.cuda.Stream().synchronize()
torch.cuda.current_stream().cuda_stream
torch.cuda.current_stream().stream_id, torch.cuda.current_stream().device_type
torch.cuda.Stream().wait_stream(torch.cuda.current_stream())
torch.cuda.Stream().wait_stream(None)
torch.cuda.Stream().wait_event(torch.cuda.Event())
torch.cuda.Stream().record_event()
torch.cuda.Stream().record_event(5)
s = torch.cuda.Stream(1); torch.cuda.set_stream(s); torch.cuda.current_device(), torch.cuda.current_stream() == s
with torch.cuda.stream(torch.cuda.Stream(1)):
    torch.cuda.current_device(), torch.ones(2, device="cuda")
with torch.cuda.stream(None):
    torch.cuda.current_device()
with torch.cuda.stream("cuda:1"):
    torch.cuda.current_device()
with torch.cuda.stream(torch.cuda.Stream()) as s:
    s
s = torch.cuda.Stream(); t = torch.cuda.StreamContext(s); t.stream == s
with torch.cuda.Stream(1) as s:
    torch.cuda.current_device(), s.device
s = torch.Stream("cuda:1"); s.device, type(s).__name__
torch.Stream(device="cpu")
torch.Stream()
torch.Event("cuda").device, torch.Event().device
torch.Event("cpu")
torch.accelerator.current_accelerator(), torch.accelerator.device_count(), torch.accelerator.current_device_index(), torch.accelerator.is_available()
torch.accelerator.set_device_index(1); torch.cuda.current_device(), torch.ones(2, device="cuda")
torch.accelerator.set_device_index(5)
torch.accelerator.current_stream(), torch.accelerator.current_stream(1).device, torch.accelerator.synchronize()
with torch.accelerator.device_index(1):
    torch.cuda.current_device()
torch.accelerator.set_stream(torch.Stream("cuda:1")); torch.cuda.current_device()
g(2).record_stream(torch.cuda.Stream())
c(2).record_stream(torch.cuda.Stream())
g(2).record_stream(None)
g(2).record_stream("cuda")
torch.cuda.synchronize(), torch.cuda.synchronize(1), torch.cuda.synchronize("cuda:1")
torch.cuda.synchronize("cpu")
torch.cuda.synchronize(5)
torch.cuda.ipc_collect(), torch.cuda.empty_cache()
torch.cuda.Event().query(), torch.cuda.Event().cuda_event, torch.cuda.Event().synchronize()
torch.cuda.Event().elapsed_time(torch.cuda.Event())
a = torch.cuda.Event(enable_timing=True); b = torch.cuda.Event(enable_timing=True); a.elapsed_time(b)
a = torch.cuda.Event(enable_timing=True); b = torch.cuda.Event(enable_timing=True); a.record(); a.elapsed_time(b)
a = torch.cuda.Event(); b = torch.cuda.Event(); a.record(); b.record(); a.elapsed_time(b)
a = torch.cuda.Event(enable_timing=True); b = torch.cuda.Event(enable_timing=True); a.record(); b.record(torch.cuda.current_stream(1)); a.elapsed_time(b)
a = torch.cuda.Event(); a.record(); a.device, a.query()
a = torch.cuda.Event(); a.record(torch.cuda.current_stream(1)); a.device
a = torch.cuda.Event(); a.record(); a.record(torch.cuda.current_stream(1))
a = torch.cuda.Event(); a.wait()
torch.cuda.Event().record("stream")
torch.cuda.Event(enable_timing=True, blocking=True).device
torch.cuda.Event(interprocess=True, enable_timing=True)
torch.cuda.Event(external=True)
torch.cuda.Event.from_ipc_handle(0, b"x")
torch.cuda.ExternalStream(0).cuda_stream
# memory
torch.cuda.memory_allocated()
x = g(256); torch.cuda.memory_allocated(), torch.cuda.memory_allocated(1), torch.cuda.max_memory_allocated()
x = g(1000); torch.cuda.memory_allocated()
x = torch.zeros(1, device="cuda:1"); torch.cuda.memory_allocated(1), torch.cuda.memory_allocated("cuda:0"), torch.cuda.memory_allocated(torch.device("cuda:1"))
x = torch.empty(1024, 1024, device="cuda"); torch.cuda.memory_allocated()
x = torch.empty(1024, 1024, device="cuda"); torch.cuda.memory_reserved(), torch.cuda.max_memory_reserved()
x = torch.empty(3, device="cuda"); torch.cuda.memory_reserved()
x = torch.empty(1024, 1024, device="cuda"); del x; torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated(), torch.cuda.memory_reserved()
x = torch.empty(1024, 1024, device="cuda"); del x; torch.cuda.empty_cache(); torch.cuda.memory_reserved()
x = torch.empty(1024, 1024, device="cuda"); del x; torch.cuda.reset_peak_memory_stats(); torch.cuda.max_memory_allocated(), torch.cuda.memory_stats()["allocation.all.peak"]
x = torch.empty(1024, 1024, device="cuda"); torch.cuda.memory_stats()["allocated_bytes.all.current"], torch.cuda.memory_stats()["allocation.all.current"], torch.cuda.memory_stats()["num_alloc_retries"]
x = torch.empty(1024, 1024, device="cuda"); torch.cuda.memory_stats()["allocation.large_pool.current"], torch.cuda.memory_stats()["reserved_bytes.all.current"], torch.cuda.memory_stats()["segment.all.current"]
x = g(2, 3); y = x.t(); z = x.view(6); torch.cuda.memory_allocated()
x = g(2, 3); y = x.clone(); torch.cuda.memory_allocated()
x = torch.empty(0, device="cuda"); torch.cuda.memory_allocated()
torch.cuda.memory_allocated(5)
torch.cuda.memory_allocated("cpu")
torch.cuda.memory_stats(5)
torch.cuda.memory_stats("cpu")
torch.cuda.reset_peak_memory_stats(5)
torch.cuda.reset_max_memory_allocated(), torch.cuda.reset_accumulated_memory_stats()
torch.cuda.memory_summary(5)
len(torch.cuda.memory_stats()), sorted(torch.cuda.memory_stats())[:6]
torch.cuda.memory_stats_as_nested_dict().keys()
torch.cuda.memory_snapshot()
type(torch.cuda.memory_summary()), torch.cuda.memory_summary(abbreviated=True).splitlines()[1].strip()
torch.cuda.mem_get_info(5)
torch.cuda.mem_get_info("cpu")
len(torch.cuda.mem_get_info("cuda:1"))
torch.cuda.set_per_process_memory_fraction(0.5)
torch.cuda.set_per_process_memory_fraction(2.0)
torch.cuda.set_per_process_memory_fraction("half")
torch.cuda.set_per_process_memory_fraction(0.5, 5)
torch.cuda.get_per_process_memory_fraction()
torch.cuda.caching_allocator_alloc(512) != 0
torch.cuda.caching_allocator_alloc(-1)
torch.cuda.caching_allocator_delete(5)
torch.cuda.get_allocator_backend()
torch.cuda.memory.change_current_allocator(None)
torch.cuda.host_memory_stats()["allocations.current"]
torch.cuda.MemPool().id != (0, 0)
with torch.cuda.use_mem_pool(torch.cuda.MemPool()):
    torch.ones(2, device="cuda")
torch.cuda.memory._record_memory_history(enabled=None)
torch.accelerator.memory_allocated(), torch.accelerator.max_memory_allocated(1), torch.accelerator.empty_cache()
# random numbers
torch.cuda.manual_seed(5); torch.cuda.initial_seed()
torch.cuda.manual_seed_all(7); torch.cuda.initial_seed(), torch.cuda.default_generators[1].initial_seed()
torch.manual_seed(9); torch.cuda.initial_seed(), torch.cuda.default_generators[1].initial_seed()
torch.cuda.manual_seed("x")
torch.cuda.manual_seed(1.5); torch.cuda.initial_seed()
torch.cuda.get_rng_state(), torch.cuda.get_rng_state(1), torch.cuda.get_rng_state("cuda:1")
torch.cuda.get_rng_state("cpu")
torch.cuda.get_rng_state(5)
torch.cuda.get_rng_state_all()
torch.cuda.set_rng_state(torch.cuda.get_rng_state(), 1)
torch.cuda.set_rng_state(torch.cuda.get_rng_state().cuda())
torch.cuda.set_rng_state(torch.get_rng_state())
torch.set_rng_state(torch.cuda.get_rng_state())
torch.cuda.set_rng_state([1, 2])
torch.cuda.set_rng_state_all([torch.cuda.get_rng_state()])
torch.Generator("cuda").device, torch.Generator("cuda:1").device, torch.Generator(torch.device("cuda")).device, torch.Generator().device
torch.Generator("cuda:5")
torch.Generator("gpu")
torch.Generator("cuda").manual_seed(3).initial_seed(), torch.Generator("cuda").get_state(), torch.Generator("cuda").seed() != 0
torch.Generator("cuda").set_state(torch.Generator("cuda").get_state())
torch.Generator("cuda").set_state(torch.Generator().get_state())
torch.Generator("cuda").set_state(torch.Generator("cuda").get_state().cuda())
torch.Generator("cuda").get_offset(), torch.Generator("cuda").set_offset(8).get_offset()
torch.Generator("cuda").set_offset(3)
torch.Generator().get_offset()
torch.Generator("cuda").clone_state().device
torch.Generator("cuda").graphsafe_get_state().device
torch.randn(2, device="cuda", generator=torch.Generator("cuda"))
torch.randn(2, device="cuda", generator=torch.Generator())
torch.randn(2, generator=torch.Generator("cuda"))
torch.randn(2, device="cuda:1", generator=torch.Generator("cuda"))
torch.rand(2, device="cuda", generator=torch.Generator("cuda:1"))
torch.randint(3, (2,), device="cuda", generator=torch.Generator())
torch.randperm(3, device="cuda", generator=torch.Generator())
torch.randperm(3, generator=torch.Generator("cuda"))
torch.randperm(3, device="cuda:1", generator=torch.Generator("cuda:0"))
g(2).normal_(generator=torch.Generator())
g(2).uniform_(generator=torch.Generator("cuda:1"))
c(2).bernoulli_(0.5, generator=torch.Generator("cuda"))
g(2).exponential_(generator=torch.Generator()), 1
torch.bernoulli(g(2), generator=torch.Generator())
torch.multinomial(g(3), 1, generator=torch.Generator())
torch.multinomial(c(3), 1, generator=torch.Generator("cuda"))
torch.normal(g(2), c(2))
torch.normal(c(2), g(2))
torch.normal(0.0, 1.0, (2,), device="cuda", generator=torch.Generator())
nn.init.normal_(g(2), generator=torch.Generator())
nn.init.kaiming_uniform_(g(2, 2), generator=torch.Generator("cuda:1"))
nn.init.trunc_normal_(g(2), generator=torch.Generator())
torch.utils.data.random_split(range(4), [2, 2], generator=torch.Generator("cuda"))[0].indices is None
list(torch.utils.data.RandomSampler(range(4), generator=torch.Generator("cuda"))) is None
list(torch.utils.data.DataLoader(c(4, 2), shuffle=True, generator=torch.Generator("cuda")))
with torch.device("cuda"):
    list(torch.utils.data.DataLoader(c(2, 2), shuffle=True))
with torch.random.fork_rng(devices=[5]):
    1
with torch.random.fork_rng(devices=["cuda:1"]):
    1
with torch.random.fork_rng():
    torch.rand(2, device="cuda")
torch.random.initial_seed() == torch.initial_seed()
torch.cuda.seed(), torch.cuda.seed_all()
# graphs and the rest
torch.cuda.CUDAGraph().pool()[0] >= 0
torch.cuda.is_current_stream_capturing()
torch.cuda.graph_pool_handle()[0]
torch.cuda.CUDAGraph().replay()
torch.cuda.make_graphed_callables(nn.Linear(2, 2), (g(1, 2),))
torch.cuda.is_bf16_supported(), torch.cuda.is_bf16_supported(False)
torch.cuda.get_arch_list() is not None, torch.cuda.get_gencode_flags() is not None
torch.cuda.get_sync_debug_mode(), torch.cuda.set_sync_debug_mode("warn"), torch.cuda.get_sync_debug_mode()
torch.cuda.set_sync_debug_mode("loud")
torch.cuda.set_sync_debug_mode(5)
torch.cuda.set_sync_debug_mode("error"); g(2).cpu()
torch.cuda.set_sync_debug_mode("error"); g().item()
torch.cuda.set_sync_debug_mode("error"); c(2).cuda()
torch.cuda.nvtx.range_push("x"), torch.cuda.nvtx.range_pop()
torch.cuda.comm.broadcast(g(2), [0, 1])
torch.cuda.comm.broadcast(c(2), [0, 1])
torch.cuda.comm.broadcast(g(2), ["cuda:0", "cpu"])
torch.cuda.comm.broadcast(g(2), out=[h(2)])
torch.cuda.comm.broadcast(g(2))
torch.cuda.comm.scatter(g(4), [0, 1])
torch.cuda.comm.scatter(c(4), [0, 1])
torch.cuda.comm.scatter(g(4), [0, 1], chunk_sizes=[1, 3])
torch.cuda.comm.scatter(g(4), [0, 1], chunk_sizes=[1, 2])
torch.cuda.comm.gather([g(2), h(2)])
torch.cuda.comm.gather([g(2), h(2)], destination="cpu")
torch.cuda.comm.gather([g(2), c(2)])
torch.cuda.comm.gather([g(2), h(2)], destination=1)
torch.cuda.comm.gather([g(2, 3), h(2, 4)])
torch.cuda.comm.reduce_add([g(2), h(2)])
torch.cuda.comm.reduce_add([g(2), c(2)])
torch.cuda.comm.reduce_add([g(2), h(3)])
torch.cuda.comm.reduce_add([g(2), h(2)], destination=1)
nn.DataParallel(nn.Linear(2, 2).cuda())(g(4, 2))
nn.DataParallel(nn.Linear(2, 2))(g(4, 2))
nn.DataParallel(nn.Linear(2, 2).cuda(), device_ids=[1, 0])(g(4, 2))
nn.DataParallel(nn.Linear(2, 2).cuda(), device_ids=[0, 5])
nn.DataParallel(nn.Linear(2, 2).cuda(), output_device=1)(g(4, 2))
nn.DataParallel(nn.Linear(2, 2).cuda())(c(4, 2))
torch.get_device_module().__name__, torch.get_device_module("cuda:1").__name__
torch.get_device_module("gpu")
torch.cuda.default_stream().device, torch.cuda.stream(torch.cuda.Stream()).stream.device
torch.get_device(g(2))
torch.utils.get_cpp_backtrace() is not None
torch.cuda.check_error(0)
torch._C._cuda_getDeviceCount()
torch.cuda.OutOfMemoryError.__name__, torch.cuda.OutOfMemoryError.__mro__[1].__name__
