"""What a simulation remembers from its start to its end, all in one `State`, which is made anew at each start.

What outlives a simulation is not here but beside the code that keeps it, for tensors do outlive it: who made them, and
the classes that were made for them. What is measured or told once in a process is there, too.

Whatever wants to see operators or copies adds itself to the observers here (`before_operators`, `carried_out`,
`on_copy`).
"""

import itertools
import sys
import threading
import weakref
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Protocol

import torch

if TYPE_CHECKING:
    from samedevice.gpu_types import GpuType
    from samedevice.simulation.calls import Arguments, Keywords, Overload
    from samedevice.simulation.device.caching_allocator import Allocator, Count
    from samedevice.simulation.device.generators import Generator
    from samedevice.simulation.device.memory import Allocation


class Session(Protocol):
    """What session.py offers to the files that it imports."""

    def replace(self, replacements: Iterator[tuple[object, str, object]]) -> None:
        """Put replacements in place until the simulation ends."""

    def lifted(self) -> AbstractContextManager[None]:
        """Return a context in which torch has its own functions and attributes."""


def prepare(waiting: list[Callable[[], None]]) -> None:
    """Put in place what waits for the first tensor of a kind."""
    while waiting:
        waiting.pop()()


class Met:
    """The kinds of tensors that a simulation met and that need more work. See Note [Latches] in tensor/wrapping.py."""

    def __init__(self) -> None:
        self.complex = False
        self.rare = False  # a tensor of one of the dtypes that few kernels compute
        self.quantized = False
        self.inference = False
        self.nested = False
        self.layouts = False  # a tensor that is sparse or nested
        self.holders = False  # a tensor that computes with those it holds: a jagged nested one, or a MaskedTensor
        living.add(self)

    def __deepcopy__(self, memo: object) -> "Met":
        return self  # a copy of a tensor that holds this one is of the same kind

    def __reduce__(self) -> Any:
        return set, ()  # a file tells nothing of it, and can be read without this package


living: weakref.WeakSet[Met] = weakref.WeakSet()  # of this simulation, and those that a tensor holds


class State:
    """What one simulation remembers; each attribute is used by the file that its comment names."""

    def __init__(
        self, models: "list[GpuType] | None" = None, from_cpu: bool = False, session: Session | None = None
    ) -> None:
        # tensor/dtensor.py and patches/dynamo.py
        self.session = session
        # The doctor, which does not import this, looks here: what ran when the simulation began, and where in it
        self.begun_at: list[tuple[CodeType, int]] = []
        # device/devices.py
        self.models = models or []  # of all GPUs, those that CUDA_VISIBLE_DEVICES hides included
        self.installed = len(self.models)  # how many these are
        self.types: list[GpuType] = []  # the models of those that can be seen
        self.gpus: list[torch.device] = []
        self.present = {torch.device("cpu")}  # where a tensor may be: dispatch looks here at every operator
        self.current_gpu = threading.local()
        self.used = False
        self.asked = False
        self.forked = False  # whether this is a child of a process that had begun to use its GPUs
        # device/dispatch_modes.py: `entered` is how many modes of PyTorch this thread is in
        self.modes = threading.local()
        self.modes.entered = torch._C._len_torch_dispatch_stack()
        # device/generators.py
        self.from_cpu = from_cpu  # whether GPUs draw from the CPU's generator
        self.generators: dict[torch.device, Generator] = {}
        # device/streams.py
        self.current_streams = threading.local()
        self.stream_changes = threading.local()
        self.stream_numbers: dict[tuple[int, int], Iterator[int]] = {}
        # device/sync_debug.py
        self.sync_debug_level = 0  # 0 says nothing, 1 warns, 2 raises
        # device/memory.py
        self.followed: dict[int, Allocation] = {}  # by the address of the storage, so that it is counted once
        self.allocators: dict[int, Allocator] = {}
        self.memory_journal: deque[Allocation] = deque()  # each is here twice: when it begins, and when it ends
        # device/pinned_memory.py
        self.pinned_counts: dict[str, Count] = {}
        self.pinned_waiting: Counter[int] = Counter()  # how many blocks of each size are kept for later
        # tensor/dispatch.py: who looks at operators before they run, and who carries out those of a namespace
        self.before_operators: list[Callable[[Overload, Arguments, Keywords | None, torch.device], None]] = []
        self.carried_out: dict[str, Callable[[Overload, Arguments, Keywords | None], Any]] = {}
        # tensor/dispatch.py and patches/torchscript_files.py: what was said last of devices that do not fit
        self.refusal: str | None = None
        # tensor/wrapping.py, Note [Latches]
        self.met = Met()
        self.met_unusual = False  # whether any kind was met: dispatch looks here at every operator
        # tensor/wrapping.py: what is put in place before the first nested tensor of the strided layout
        self.before_nested: list[Callable[[], None]] = []
        self.before_complex: list[Callable[[], None]] = []  # and before the first complex tensor
        # tensor/moving.py and rules/judgement.py: who is told of each copy from one device to another
        self.on_copy: list[Callable[[torch.Tensor, torch.device], None]] = []
        # tensor/functorch.py: what is put in place before the first tensor of PyTorch's own class that C++ wraps
        self.before_wrapped: list[Callable[[], None]] = []
        # tensor/fake.py
        self.met_fakes = False  # whether C++ was told of a GPU's fake tensor
        # patches/read_first.py
        self.read: set[Any] = set()  # the kinds of calls that the compiler has read
        # tensor/factories.py
        self.default_type: torch.device | None = None  # what torch.set_default_tensor_type left
        # tensor/large_results.py: from which kind of operator on a result may be large (see Operator.grows)
        self.checked_growth = 2
        # patches/memory.py
        self.memory_observers: list[Callable[[int, int, int, int], object]] = []  # whom an empty GPU is told to
        self.raw_memory: dict[int, torch.UntypedStorage] = {}  # what was asked of the allocator, by its address
        # patches/cuda.py
        self.graph_pools = itertools.count(1)
        # patches/autocast.py
        self.autocast_types: set[str] = set()  # for which its kernels are registered
        # The casts of parameters in this region, by id; with the parameter, so that its id is not taken by another.
        self.autocast_cache: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        # patches/process_group_nccl.py
        self.nccl_groups: set[Any] = set()  # PyTorch's C++ code holds no Python object: these are asked for
        # Kernels that were registered with PyTorch's dispatcher, to be taken away again
        self.libraries: list[torch.library.Library] = []
        # patches/library.py: which of them are in front of those of an operator, by its name
        self.in_front: dict[str, torch.library.Library] = {}
        # patches/library.py: what calls CUDA's kernel, for a class that passes an operator on
        self.kernels_of_cuda: dict[str, Callable[[Any, list[torch.Tensor], Arguments, Keywords], Any]] = {}


now = State()  # without GPUs, until a simulation starts


def begin(models: "list[GpuType]", from_cpu: bool, session: Session) -> None:
    """Forget the last simulation: one of these GPUs starts."""
    global now
    now = State(models, from_cpu, session)
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        now.begun_at.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back


def end() -> None:
    """Forget what only a running simulation needs; a tensor that is left over can still be looked at."""
    global now
    before, now = now, State()
    now.used, now.forked = before.used, before.forked  # asked for afterwards, too
    now.met, now.met_unusual = before.met, before.met_unusual  # a tensor that is left over is looked at
