"""Random numbers of simulated GPUs: each has its own generator, apart from the CPU's, as on CUDA.

As there, the state of a generator is a seed and an offset, 16 bytes in all, and every operator that draws moves the
offset on (aten/src/ATen/cuda/CUDAGeneratorImpl.cpp). The numbers differ from a real GPU's: CUDA draws with Philox, this
with the CPU's Mersenne Twister, seeded anew from seed and offset for each operator. The first operator after a seed so
draws what it would on the CPU. With `simulate_cuda(rng="cpu")` every operator does: GPUs then draw from the CPU's
generator, and seeding them does nothing, as where there is no GPU.
"""

import functools
import struct
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import torch
from torch.types import Device

from samedevice.simulation import state
from samedevice.simulation.calls import Arguments, Keywords
from samedevice.simulation.class_stand_ins import Face, face
from samedevice.simulation.device import devices
from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.stand_ins import overridden

_lock = threading.RLock()
_IN_PLACE = (
    "bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "normal_", "random_", "uniform_",
)  # fmt: skip


def default_generator(device: torch.device) -> "Generator":
    """The generator that `device` draws from where none is passed."""
    generators = state.now.generators
    if device not in generators:
        generators[device] = Generator.on(device)
        generators[device].manual_seed(torch.default_generator.initial_seed())
    return generators[device]


class of:  # noqa: N801 - reads as `with generators.of(device)`
    """Inside, an operator on `device` draws from `generator`, or from the device's own where that is None.

    Raises PyTorch's error where the generator is of another type of device.
    """

    def __init__(self, device: torch.device, generator: torch.Generator | None = None) -> None:
        self._device, self._generator = device, generator

    def __enter__(self) -> None:
        self._kept = None
        if self._generator is not None:
            check_generator(self._generator, self._device)
        elif self._device.type == "cuda" and not state.now.from_cpu:
            _lock.acquire()
            self._kept = torch.default_generator.get_state()
            torch.default_generator.manual_seed(default_generator(self._device).draw())

    def __exit__(self, *exception: object) -> None:
        if self._kept is not None:
            torch.default_generator.set_state(self._kept)
            _lock.release()


def passed(args: Arguments, kwargs: Keywords | None) -> torch.Generator | None:
    """The generator among an operator's arguments; a few take it by position (poisson, binomial)."""
    if kwargs and "generator" in kwargs:
        return kwargs["generator"]
    return next((x for x in args if isinstance(x, torch.Generator)), None)


cpu_generator = torch.Generator

# The generators of GPUs by the address of the C++ generator that they are.
_by_address: "weakref.WeakValueDictionary[int, Generator]" = weakref.WeakValueDictionary()


class Generator(torch.Generator):
    """A generator of a simulated GPU."""

    _samedevice_device: torch.device
    _seed = 67280421310721  # c10/core/GeneratorImpl.h, default_rng_seed_val
    _offset = 0

    @classmethod
    def on(cls, device: torch.device) -> "Generator":
        generator = cpu_generator.__new__(cls)
        generator._samedevice_device = device
        _by_address[generator._cdata] = generator
        return generator

    @property
    def device(self) -> torch.device:
        return self._samedevice_device

    def draw(self) -> int:
        """The seed for one operator, at first the generator's own; the next operator gets another."""
        drawn = _mix(_mix(self._offset) ^ self._seed) if self._offset else self._seed
        self._offset += 4  # what CUDA's kernels take at least
        return drawn

    def manual_seed(self, seed: int) -> "Generator":
        cpu_generator.manual_seed(self, seed)  # refuses what is no seed
        self._seed, self._offset = int(seed) % 2**64, 0
        return self

    def seed(self) -> int:
        self.manual_seed(super().seed())
        return self._seed

    def initial_seed(self) -> int:
        return self._seed

    def get_offset(self) -> int:
        return self._offset

    def set_offset(self, offset: int) -> "Generator":
        if offset % 4:
            raise RuntimeError("offset must be a multiple of 4")
        self._offset = offset
        return self

    @property
    def _is_cpus(self) -> bool:
        """Whether it goes on as a generator of the CPU; the GPU's own stays apart from the CPU's."""
        return state.now.from_cpu and state.now.generators.get(self.device) is not self

    def get_state(self) -> torch.Tensor:
        if self._is_cpus:
            return super().get_state()
        return torch.frombuffer(bytearray(struct.pack("<QQ", self._seed, self._offset)), dtype=torch.uint8)

    def set_state(self, new_state: torch.Tensor) -> "Generator":
        if not isinstance(new_state, torch.Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        _check_state(new_state)
        if self._is_cpus:
            super().set_state(new_state)
            return self
        if new_state.numel() not in (8, 16):
            raise RuntimeError("RNG state is wrong size")
        self._seed, self._offset = struct.unpack("<QQ", bytes(new_state.tolist()).ljust(16, b"\0"))
        return self

    def __reduce__(self) -> Any:
        """Reduce as torch/csrc/Generator.cpp does: pickled here, it can be loaded where CUDA is real."""
        return torch.Generator, (self.device,), (self._seed, self._offset, self.get_state())

    def __setstate__(self, state: tuple[int, int, torch.Tensor]) -> None:
        self._seed, self._offset, _ = state

    def clone_state(self) -> "Generator":
        return Generator.on(self.device).set_state(self.get_state())

    def graphsafe_get_state(self) -> "Generator":
        return self

    def graphsafe_set_state(self, state: "Generator") -> "Generator":
        return self.set_state(state.get_state())


def _mix(number: int) -> int:
    """A step of splitmix64: neighbouring numbers become unlike ones."""
    number = (number + 0x9E3779B97F4A7C15) % 2**64
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    number = (number ^ number >> 27) * 0x94D049BB133111EB % 2**64
    return number ^ number >> 31


def _check_state(state: Any) -> None:
    """torch/csrc/Generator.cpp, THPGenerator_setState: bytes on the CPU, be the generator a GPU's."""
    if isinstance(state, torch.Tensor) and (device_of(state) is not CPU or state.dtype != torch.uint8):
        raise TypeError("RNG state must be a torch.ByteTensor")


class CPUGenerator(torch.Generator):
    """A generator of the CPU, which sees where the state that it is given is."""

    def set_state(self, new_state: torch.Tensor) -> torch.Generator:
        _check_state(new_state)
        return super().set_state(new_state)


def _set_rng_state(new_state: torch.Tensor) -> None:
    _check_state(new_state)
    original_set_rng_state(new_state)


original_set_rng_state = torch.random.set_rng_state


def _new(cls: type, device: Device = "cpu", *args: Any, **kwargs: Any) -> torch.Generator:
    """Make one of a program's own class: a GPU's has the methods of a GPU's generator behind that class's own."""
    asked = torch.device(device)
    if asked.type == "cuda" and devices.installed():
        members = {"__module__": cls.__module__, "__qualname__": cls.__qualname__}
        return type(cpu_generator)(cls.__name__, (cls, Generator), members).on(asked)
    return cpu_generator.__new__(cls, asked)


class _GeneratorFace(Face):
    """What stands for torch.Generator: it makes a CPU's or a GPU's."""

    for_derived: ClassVar[dict[str, Any]] = {"__new__": _new}

    def __call__(self, device: Device = "cpu") -> torch.Generator:
        try:
            asked = torch.device(device)
        except TypeError:
            return cpu_generator(device)  # PyTorch refuses this
        if asked.type == "cuda":
            return Generator.on(asked)  # no GPU is looked for yet
        return CPUGenerator() if asked.type == "cpu" else cpu_generator(asked)


GeneratorFace = face(_GeneratorFace, cpu_generator)


def _as_made(generator: torch.Generator) -> torch.Generator:
    """The object that a program has made: an operator gets another Python object for the generator."""
    return _by_address.get(generator._cdata, generator)


def is_of_another_type(generator: torch.Generator | None, device: torch.device) -> bool:
    """Whether the generator is of another type of device than this one."""
    return isinstance(generator, cpu_generator) and _as_made(generator).device.type != device.type


def unless_drawn(compute: Callable[[torch.Generator], Any], generator: torch.Generator, device: torch.device) -> Any:
    """Return what is computed with a generator of another type of device if no number is drawn, or refuse it.

    PyTorch looks at a generator where a kernel begins to draw (ATen/native/DistributionTemplates.h and
    native/cuda/DistributionTemplates.h): after the other arguments, and for no element not at all.
    """
    result = compute(cpu_generator())
    if result.numel():
        check_generator(generator, device)
    return result


def check_generator(generator: torch.Generator | None, device: torch.device) -> None:
    """ATen/core/Generator.h, check_generator: the types must be equal; the index is not looked at.

    What comes next draws from it.
    """
    if not isinstance(generator, cpu_generator):
        return  # none, or PyTorch refuses it
    generator = _as_made(generator)
    if generator.device.type != device.type:
        raise RuntimeError(f"Expected a '{device.type}' device type for generator but found '{generator.device.type}'")
    if isinstance(generator, Generator) and not state.now.from_cpu:
        cpu_generator.manual_seed(generator, generator.draw())


def replacements() -> Iterator[tuple[object, str, object]]:
    for owner in (torch, torch._C):  # it is pickled as torch._C.Generator
        yield owner, "Generator", GeneratorFace
    for module in (torch, torch.random):
        yield module, "set_rng_state", functools.wraps(original_set_rng_state)(_set_rng_state)
    yield torch.cuda, "default_generators", tuple(default_generator(gpu) for gpu in devices.gpus())
    for owner, names in (
        (torch.Tensor, (*_IN_PLACE, "bernoulli", "multinomial")),
        (torch, ("bernoulli", "multinomial")),
    ):
        for name in names:
            yield owner, name, _checked(getattr(owner, name))


def _checked(original: Any) -> Any:
    """A function that draws, which on a plain CPU tensor refuses a GPU's generator."""

    @functools.wraps(original)
    def checked(*args: Any, **kwargs: Any) -> Any:
        generator = kwargs.get("generator")
        if generator is not None:
            source = args[0] if args else kwargs.get("input")
            if (
                isinstance(source, torch.Tensor) and not overridden(source) and device_of(source) is CPU
            ):  # a simulated one is looked at when it is dispatched
                if is_of_another_type(generator, CPU):
                    return unless_drawn(functools.partial(_undrawn, original, args, kwargs), generator, CPU)
                check_generator(generator, CPU)
        return original(*args, **kwargs)

    return checked


def _undrawn(original: Any, args: Arguments, kwargs: Keywords, generator: torch.Generator) -> Any:
    """What a function gives with this generator; one that works in place leaves what its tensor holds."""
    kwargs = kwargs | {"generator": generator}
    if original.__name__ not in _IN_PLACE:
        return original(*args, **kwargs)
    original(args[0].detach().clone(), *args[1:], **kwargs)
    return args[0]
