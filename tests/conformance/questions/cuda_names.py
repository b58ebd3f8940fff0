"""Names of torch.cuda, torch.accelerator and torch._C that programs and libraries look for."""

import torch.profiler
from torch.cuda import tunable


tunable.is_enabled()
tunable.enable(True); tunable.is_enabled()
tunable.enable(False); tunable.is_enabled()
tunable.tuning_is_enabled()
tunable.tuning_enable(False); tunable.tuning_is_enabled()
tunable.set_max_tuning_duration(10); tunable.get_max_tuning_duration()
tunable.set_max_tuning_iterations(10); tunable.get_max_tuning_iterations()
tunable.get_filename()
tunable.set_filename("tuned.csv"); tunable.get_filename()
tunable.get_results()
type(tunable.get_validators()).__name__
tunable.record_untuned_is_enabled()
torch._C._cuda_getCompiledVersion() > 0
torch._C._cuda_hasPrimaryContext(0), torch._C._cuda_hasPrimaryContext(1)
torch._C._cuda_isHistoryEnabled()
torch._C._cuda_getDriverVersion() > 0
torch._C._cuda_getDeviceCount()
torch._C._cuda_getDevice(), torch._C._cuda_setDevice(1), torch._C._cuda_getDevice()
torch._C._cuda_isInBadFork()
torch._C._cuda_getArchFlags() is not None
torch._C._cuda_canDeviceAccessPeer(0, 1) in (True, False)
torch._C._cuda_getAllocatorBackend()
torch._C._cuda_resetPeakMemoryStats(0), torch._C._cuda_emptyCache()
type(torch._C._cuda_memoryStats(0)).__name__
torch._C._cuda_sleep(10)
torch._C._cuda_synchronize()
torch._C._cuda_ipc_collect()
torch._C._cuda_getDefaultStream(0)[1:]
torch._C._cuda_getCurrentStream(1)[1:]
torch._C._cuda_exchangeDevice(1), torch.cuda.current_device()
torch._C._cuda_maybeExchangeDevice(1), torch.cuda.current_device()
torch._C._cuda_get_sync_debug_mode()
torch._C._cuda_hostMemoryStats() is not None
torch._C._cuda_isCurrentStreamCapturing()
__import__("importlib").import_module("torch.testing._internal.jit_utils").__name__
__import__("importlib").import_module("torch.testing._internal.common_distributed").__name__
torch.accelerator.device_index("cuda:1")
torch.accelerator.device_index(1)
with torch.accelerator.device_index(1): torch.accelerator.current_device_index()
with torch.accelerator.device_index(None): torch.accelerator.current_device_index()
torch.accelerator.set_device_index(1); torch.accelerator.current_device_index(), torch.cuda.current_device()
torch.accelerator.set_device_index("cuda:1"); torch.accelerator.current_device_index()
torch.accelerator.set_device_index("cpu")
torch.accelerator.set_device_index(7)
torch.accelerator.current_accelerator(), torch.accelerator.device_count(), torch.accelerator.is_available()
torch.accelerator.memory_allocated(1), torch.accelerator.max_memory_allocated()
torch.accelerator.current_stream(1), torch.accelerator.synchronize(1)
torch.accelerator.set_stream(torch.cuda.Stream(1)); torch.accelerator.current_device_index()
torch.accelerator.empty_cache(), torch.accelerator.reset_peak_memory_stats()
sorted(str(a) for a in torch.profiler.supported_activities() if "CUDA" in str(a) or "CPU" in str(a))
x = g(2); x.device = "cpu"
x = g(2); x.is_cuda = False
x = g(2); x.grad = c(2)
x = g(2); del x.device
g(2).untyped_storage().to(device="cpu", non_blocking=True).is_pinned()
g(2).untyped_storage().cpu().is_pinned(), g(2).cpu().is_pinned(), g(2).to("cpu", non_blocking=True).is_pinned()
torch.cuda.is_bf16_supported(), torch.cuda.is_tf32_supported() in (True, False)
torch.cuda.get_arch_list() is not None, torch.cuda.get_gencode_flags() is not None
torch.cuda.get_device_capability(1) == torch.cuda.get_device_capability("cuda:1")
torch.cuda.get_device_properties("cuda:5")
torch.cuda.get_device_properties("cpu")
torch.cuda.get_device_capability(torch.device("cpu"))
torch.cuda.can_device_access_peer(0, 5)
torch.cuda.can_device_access_peer(0, 0) in (True, False)
torch.cuda.device_of(h(2)).idx, torch.cuda.device_of(c(2)).idx
with torch.cuda.device_of(h(2)): torch.cuda.current_device()
with torch.cuda.device_of(c(2)): torch.cuda.current_device()
with torch.cuda.device("cuda"): torch.cuda.current_device()
with torch.cuda.device("cpu"): torch.cuda.current_device()
with torch.cuda.device(None): torch.cuda.current_device()
with torch.cuda.device(7): torch.cuda.current_device()
with torch.cuda.device(-1): torch.cuda.current_device()
torch.cuda.set_device("cpu")
torch.cuda.set_device("cuda")
torch.cuda.set_device(7)
torch.cuda.set_device(-1); torch.cuda.current_device()
len(torch.cuda.memory_stats(1)) > 0
torch.cuda.mem_get_info("cpu")
torch.cuda.memory_allocated("cpu")
torch.cuda.memory_allocated(5)
torch.cuda.reset_peak_memory_stats(5)
torch.cuda.synchronize(5)
torch.cuda.synchronize("cpu")
torch.cuda.current_stream("cpu")
torch.cuda.current_stream(5)
torch.cuda.manual_seed("a")
torch.cuda.get_rng_state(1).device, torch.cuda.get_rng_state("cuda").shape
torch.cuda.get_rng_state("cpu")
torch.cuda.set_rng_state(g(16).to(torch.uint8))
torch.cuda.initial_seed() >= 0, torch.cuda.seed_all()
torch.get_device_module("cuda").__name__, torch.get_device_module(torch.device("cuda:1")).__name__, torch.get_device_module().__name__
torch.backends.cuda.is_built(), torch.version.cuda is not None, torch.backends.cudnn.is_available()
torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.enabled
torch.cuda.nvtx.range_push("a"), torch.cuda.nvtx.range_pop()
torch.cuda.amp.common.amp_definitely_not_available()
torch.cuda.is_initialized(), torch.cuda.is_current_stream_capturing(), torch.cuda.is_available()
torch.utils.backend_registration._get_custom_mod_func("a")
torch._utils._get_available_device_type(), torch._utils._get_device_module("cuda").__name__
torch._utils._get_device_index("cuda:1"), torch._utils._get_device_index(None, optional=True), torch._utils._get_all_device_indices()
torch._utils._get_device_index("cpu")
torch.cuda._utils._get_device_index("cuda", optional=True)
torch.cuda._device_count_nvml() in (-1, 0, 1, 2), torch.cuda.device_count()
torch.cuda.cudart() is not None
torch.cuda.check_error(0)
torch.cuda.check_error(2)
torch._C._get_accelerator(), torch._C._accelerator_getDeviceIndex()
with torch.random.fork_rng(devices=[0, 1]): 1
with torch.random.fork_rng(devices=[0, 7]): 1
with torch.random.fork_rng(device_type="cuda"): torch.rand(2, device="cuda")
torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH).__class__.__name__
torch.set_default_device(7); torch.ones(2)
torch.set_default_device("cuda:1"); torch.ones(2)
torch.get_default_device()
with torch.device("cuda"): torch.get_default_device(), torch.ones(2)
with torch.device("cuda:1"): nn.Linear(2, 2).weight, torch.tensor([1]), torch.arange(3)
with torch.device("cuda:1"): torch.from_numpy(__import__("numpy").zeros(2)), torch.randperm(3), torch.Generator().device
