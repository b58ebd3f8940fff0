"""What stands under torch.cuda and torch.accelerator while a simulation runs.

torch.cuda is Python over C++ functions named torch._C._cuda_..., torch.accelerator over torch._C._accelerator_...: a
CPU build lacks the first, and the second find no device. They are what is replaced, so that arguments are read and
errors raised by PyTorch's own code. Streams, memory, random numbers, autocast and compilers have files of their own.
"""

import enum
import types
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import torch
from torch.autograd import profiler
from torch.backends import ContextProp
from torch.backends.cuda import cuFFTPlanCache, cuFFTPlanCacheManager

from samedevice.simulation import state
from samedevice.simulation.device import devices, sync_debug
from samedevice.simulation.patches import memory
from samedevice.simulation.patches.only_with_cuda import refused
from samedevice.simulation.rules import determinism

_set_deterministic = torch._C._set_deterministic_algorithms


_FUSED = ("flash", "mem_efficient", "cudnn")


def _no_fused_kernel(params: Any, debug: bool = False) -> bool:
    """Say no, as PyTorch's build for the CPU does: the one for CUDA asks the driver of real GPUs."""
    return False


def replacements() -> Iterator[tuple[object, str, object]]:
    yield torch, "device", devices.DeviceFace
    in_c = {
        "_cuda_init": devices.use, "_cuda_getDeviceCount": devices.ask, "_cuda_getDevice": devices.current,
        "_cuda_setDevice": _set_device, "_cuda_exchangeDevice": exchange_device,
        "_cuda_maybeExchangeDevice": exchange_device, "_cuda_canDeviceAccessPeer": lambda device, peer: device != peer,
        "_cuda_synchronize": _nothing, "_cuda_ipc_collect": _nothing,
        "_cuda_sleep": _nothing, "_cuda_clearCublasWorkspaces": _nothing, "_cuda_getArchFlags": lambda: _ARCHITECTURES,
        "_cuda_set_sync_debug_mode": _set_sync_debug_mode,
        "_cuda_get_sync_debug_mode": lambda: state.now.sync_debug_level,
        "_cuda_isCurrentStreamCapturing": lambda: False,
        "_cuda_getCompiledVersion": _compiled_version, "_cuda_hasPrimaryContext": _has_primary_context,
        "_cuda_isHistoryEnabled": lambda: False, "_cuda_isInBadFork": devices.in_forked_child,
        **dict.fromkeys((f"_can_use_{kernel}_attention" for kernel in _FUSED), _no_fused_kernel),
        "_cuda_getCurrentBlasHandle": refused("cuBLAS, so it has no handle"),
        "_cuda_getCurrentSolverHandle": refused("cuSOLVER, so it has no handle"),
        "_accelerator_getAccelerator": lambda: torch.device("cuda"),
        "_get_accelerator": lambda check=False: torch.device("cuda"),
        "_accelerator_getDeviceIndex": current_device, "_accelerator_setDeviceIndex": devices.set_current,
        "_accelerator_exchangeDevice": _exchange_accelerator, "_accelerator_maybeExchangeDevice": exchange_device,
        "_accelerator_synchronizeDevice": _synchronize_device, "_accelerator_getDeviceCapability": _device_capability,
    }  # fmt: skip
    for library in ("linalg", "blas"):
        yield from _preferred(f"_set_{library}_preferred_backend", f"_get_{library}_preferred_backend")
    yield torch._C, "_set_deterministic_algorithms", _set_deterministic_algorithms
    for name, function in in_c.items():
        yield torch._C, name, function
    # What torch.cuda chose when it was imported, or would answer for the GPUs of this machine.
    in_cuda = {
        "_exchange_device": exchange_device, "_maybe_exchange_device": exchange_device,
        "device_count": device_count, "is_initialized": devices.used, "init": devices.use, "_lazy_init": devices.use,
        "_lazy_call": devices.seed, "_is_in_bad_fork": devices.in_forked_child,
        "is_current_stream_capturing": lambda: False, "_cuda_isCurrentStreamCapturing": lambda: False,
    }  # fmt: skip
    for owner in (torch.cuda, torch.cuda.random, torch.cuda.memory, torch.cuda.graphs):
        for name, function in in_cuda.items():
            if name in vars(owner):  # each of the others has imported some by name
                yield owner, name, function
    # A profiler that is asked for CUDA sees the CPU, which computes: events of a GPU would fail at each operator.
    activities = {*profiler._supported_activities(), torch.profiler.ProfilerActivity.CUDA}
    for owner in (torch.autograd, profiler):
        yield owner, "_supported_activities", lambda: activities
    states = profiler.ProfilerState.__members__
    yield profiler, "ProfilerState", types.SimpleNamespace(**states | {"KINETO_GPU_FALLBACK": states["KINETO"]})
    for name, method in (("__enter__", _enter_nvtx), ("__exit__", _nothing)):
        yield profiler.emit_nvtx, name, method
    for owner in (torch.cuda, torch._C):
        yield owner, "_cudart", _cudart()
    yield torch.cuda, "has_magma", True
    yield torch._C, "_has_cuda", True
    # The accelerator that it found first is kept for good: without a simulation, the CPU.
    yield torch.utils.checkpoint.DefaultDeviceType, "_default_device_type", None
    yield torch._C, "_is_flash_attention_available", lambda: True
    yield from _cudnn()
    yield torch.version, "cuda", torch.version.cuda or "13.0"  # that of PyTorch's own wheels
    refuse_graphs = refused("CUDA graphs: run the same lines without capturing them")
    for kind in (torch.cuda.CUDAGraph, torch.cuda.graph):  # libraries annotate with them, and ask isinstance
        if "__new__" in vars(kind):
            yield kind, "__new__", staticmethod(refuse_graphs)
        else:
            yield kind, "__init__", refuse_graphs
    for owner in (torch.cuda, torch.cuda.graphs):
        yield owner, "make_graphed_callables", refuse_graphs
    yield torch.cuda.graphs, "_graph_pool_handle", lambda: (0, next(state.now.graph_pools))
    if hasattr(torch.accelerator, "Graph"):
        yield torch.accelerator, "Graph", refused("CUDA graphs: run the same lines without capturing them")
    yield torch.backends.cuda, "cufft_plan_cache", cuFFTPlanCacheManager()
    yield from _cufft()
    for owner in (torch.cuda.nvtx, torch._C):
        yield owner, "_nvtx", _nvtx()


def start() -> None:
    """What is not put in place by name."""
    _observe(determinism.check, torch._C._get_deterministic_algorithms())


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Nothing to do: every simulated operation is finished when it returns, and nothing is kept in reserve."""


def _preferred(setter: str, getter: str) -> Iterator[tuple[object, str, object]]:
    """torch.backends.cuda.preferred_linalg_library and preferred_blas_library: the choice is kept and read back."""
    choose, chosen = getattr(torch._C, setter), [getattr(torch._C, getter)()]

    def prefer(backend: Any) -> None:
        if backend.name == "Ck":
            choose(backend)  # AMD's: refused, by PyTorch
        chosen[:] = [backend]

    yield torch._C, setter, prefer
    yield torch._C, getter, lambda: chosen[0]


# torch.cuda.get_arch_list(): those of PyTorch's own wheels.
_ARCHITECTURES = "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120"


def _cudnn() -> Iterator[tuple[object, str, object]]:
    """What torch.backends.cudnn says of a build with cuDNN.

    Nothing is computed by it, so nn.LSTM and its kin are told not to lay out their weights for it.
    """
    limit = [10]  # aten/src/ATen/Context.h, benchmark_limit_cudnn
    empties_cache = [True]  # between the kernels that are tried
    module = torch.backends.cudnn.m  # what torch.backends.cudnn stands in front of
    library = getattr(module, "_cudnn", None) or _cudnn_library()
    for owner in (module, getattr(torch.backends.cudnn.rnn, "m", torch.backends.cudnn.rnn), torch._C):
        yield owner, "_cudnn", library
    yield torch._C, "_has_cudnn", True
    yield module, "_init", lambda: True
    yield torch, "_use_cudnn_rnn_flatten_weight", lambda: False  # a build with CUDA says otherwise
    yield module, "__cudnn_version", vars(module).get("__cudnn_version") or 92000  # that of PyTorch's own wheels

    def read() -> int:
        return limit[0]

    def choose(value: int) -> None:
        limit[:] = [value]

    yield torch._C, "_cuda_get_conv_benchmark_empty_cache", lambda: empties_cache[0]
    yield torch._C, "_cudnn_set_conv_benchmark_empty_cache", lambda value: empties_cache.__setitem__(0, bool(value))
    yield torch._C, "_cuda_get_cudnn_benchmark_limit", read
    yield torch._C, "_cuda_set_cudnn_benchmark_limit", choose
    yield type(torch.backends.cudnn), "benchmark_limit", ContextProp(read, choose)


def _cudnn_library() -> types.SimpleNamespace:
    """torch/csrc/cuda/shared/cudnn.cpp, of cuDNN 9.20."""
    return types.SimpleNamespace(
        is_cuda=True, getVersionInt=lambda: 92000, getRuntimeVersion=lambda: (9, 20, 0),
        getCompileVersion=lambda: (9, 20, 0),
        RNNMode=enum.IntEnum("RNNMode", ("rnn_relu", "rnn_tanh", "lstm", "gru"), start=0),
    )  # fmt: skip


def _cufft() -> Iterator[tuple[object, str, object]]:
    """torch.backends.cuda.cufft_plan_cache: each GPU's holds nothing, and its limit is kept and read back."""
    limits: dict[int, int] = {}
    attribute: Any = type(vars(cuFFTPlanCache)["size"])
    read_only = vars(cuFFTPlanCache)["size"].setter  # what is said of it
    yield cuFFTPlanCache, "size", attribute(lambda gpu: 0, read_only)
    yield cuFFTPlanCache, "max_size", attribute(lambda gpu: limits.get(gpu, 4096), limits.__setitem__)
    yield cuFFTPlanCache, "clear", _nothing


def _compiled_version() -> int:
    """CUDART_VERSION of the build: 13000 for CUDA 13.0."""
    major, minor = str(torch.version.cuda).split(".")[:2]
    return 1000 * int(major) + 10 * int(minor)


def _has_primary_context(device: int) -> bool:
    """Whether a GPU was used; ATen/cuda/detail/CUDAHooks.cpp, hasPrimaryContext."""
    _expect_number(device, "has_primary_context")
    if not 0 <= device < devices.count():
        raise RuntimeError(f"hasPrimaryContext expects a valid device index, but got device_index={device}")
    return devices.used()


def device_count() -> int:
    return devices.count()


def current_device() -> int:
    devices.use()
    return devices.current()


def _set_device(index: int) -> None:
    _expect_number(index, "setDevice")
    index = (index + 128) % 256 - 128  # an int8
    if index < 0:
        raise RuntimeError(
            f"device id must be non-negative!{index}"
        )  # torch/csrc/cuda/Module.cpp, THCPModule_setDevice
    devices.set_current(index)


def exchange_device(index: int) -> int:
    """Make `index` current and return what was; -1 changes nothing (c10/cuda/CUDAFunctions.cpp)."""
    _expect_number(index, "exchangeDevice")
    if devices.fits(index) < 0:
        return -1
    before = current_device()
    devices.set_current(index)
    return before


def _expect_number(index: Any, function: str) -> None:
    """torch/csrc/cuda/Module.cpp, THPUtils_checkLong: a bool is no number there."""
    if isinstance(index, bool) or not hasattr(index, "__index__"):
        raise RuntimeError(f"invalid argument to {function}")


def _exchange_accelerator(index: int) -> int:
    """torch/csrc/DeviceAccelerator.cpp, which reads an int8, and takes no negative one for nothing."""
    if not -128 <= index < 128:
        raise TypeError  # PyTorch's own function refuses this (see stand_ins.py)
    before = current_device()
    devices.set_current(devices.gpu(index).index)
    return before


def _synchronize_device(index: int) -> None:
    if index < 0:
        raise RuntimeError(f"device id must be non-negative!{index}")  # c10/cuda/CUDAFunctions.cpp, SetDevice
    devices.gpu(index)


def _device_capability(index: int) -> NoReturn:
    raise RuntimeError("Backend doesn't support getting device capabilities.")  # torch/csrc/DeviceAccelerator.cpp


def _set_sync_debug_mode(mode: int) -> None:
    sync_debug.set_level(mode)
    _observe(sync_debug.before, bool(mode))


def _set_deterministic_algorithms(mode: bool, warn_only: bool = False) -> None:
    _set_deterministic(mode, warn_only=warn_only)
    _observe(determinism.check, mode)


def _observe(check: Callable[..., None], wanted: bool) -> None:
    """Let a check see each operator while a setting asks for it; else an operator's way stays as short as it is."""
    observers = [each for each in state.now.before_operators if each is not check]
    state.now.before_operators = [*observers, check] if wanted else observers


# What cudaGetErrorString says of the errors that programs meet.
_ERRORS = {
    0: "no error", 1: "invalid argument", 2: "out of memory", 3: "initialization error", 4: "driver shutting down",
    9: "invalid configuration argument", 35: "CUDA driver version is insufficient for CUDA runtime version",
    46: "CUDA-capable device(s) is/are busy or unavailable", 98: "invalid device function",
    100: "no CUDA-capable device is detected", 101: "invalid device ordinal",
    209: "no kernel image is available for execution on the device", 304: "OS call failed or operation not supported",
    400: "invalid resource handle", 700: "an illegal memory access was encountered",
    701: "too many resources requested for launch", 710: "device-side assert triggered",
    719: "unspecified launch failure", 801: "operation not supported", 999: "unknown error",
}  # fmt: skip


def _cudart() -> types.SimpleNamespace:
    """The functions of torch/csrc/cuda/shared/cudart.cpp; each succeeds."""
    done = dict.fromkeys(
        (
            "cudaProfilerStart", "cudaProfilerStop", "cudaHostRegister", "cudaHostUnregister", "cudaStreamCreate",
            "cudaStreamDestroy",
        ),
        lambda *args: 0,
    )  # fmt: skip

    def error(code: int) -> int:
        return code

    error.success = 0  # type: ignore[attr-defined]
    return types.SimpleNamespace(
        **done,
        cudaError=error,
        cudaGetErrorString=lambda code: _ERRORS.get(int(code), "unrecognized error code"),
        cudaMemGetInfo=memory._free,
    )


def _enter_nvtx(self: Any) -> Any:
    """torch/autograd/profiler.py, emit_nvtx.__enter__: without a profiler, nobody sees its ranges."""
    if not self.enabled:
        return None
    if self.entered:
        raise RuntimeError("NVTX annotation context manager is not reentrant")
    self.entered = True
    return self


def _nvtx() -> types.SimpleNamespace:
    """Ranges without a profiler to see them: NVTX then answers -2 (NVTX_NO_PUSH_POP_TRACKING) and range number 0."""
    return types.SimpleNamespace(
        rangePushA=lambda message: -2, rangePop=lambda: -2, rangeStartA=lambda message: 0, rangeEnd=_nothing,
        markA=_nothing, deviceRangeStart=_nothing, deviceRangeEnd=_nothing,
    )  # fmt: skip
