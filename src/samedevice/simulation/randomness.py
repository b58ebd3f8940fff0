"""Random numbers of simulated GPUs: each has its own generator, apart from the CPU's, as on CUDA.

The numbers differ from a real GPU's (CUDA draws with Philox, the CPU with Mersenne Twister); that drawing on one device
leaves the others' sequences alone is the same.
"""

import contextlib
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import torch

from samedevice.simulation import devices

_lock = threading.RLock()
_generators: dict[torch.device, "Generator"] = {}


def default_generator(device: torch.device) -> "Generator":
    """The generator that `device` draws from where none is passed."""
    if device not in _generators:
        _generators[device] = Generator.on(device)
        _generators[device].manual_seed(torch.default_generator.initial_seed())
    return _generators[device]


def forget() -> None:
    """Begin anew: the next GPU of the same name starts from its seed."""
    _generators.clear()


@contextlib.contextmanager
def of(device: torch.device) -> Iterator[None]:
    """Inside, what draws from the CPU's default generator draws from `device`'s."""
    if device.type != "cuda":
        yield
        return
    with _lock:
        ours, cpu = default_generator(device), torch.default_generator
        kept = cpu.get_state()
        cpu.set_state(ours.get_state())
        try:
            yield
        finally:
            ours.set_state(cpu.get_state())
            cpu.set_state(kept)


cpu_generator = torch.Generator

# The generators of GPUs by the address of the C++ generator that they are.
_by_address: "weakref.WeakValueDictionary[int, Generator]" = weakref.WeakValueDictionary()


class Generator(torch.Generator):
    """A generator of a simulated GPU."""

    _samedevice_device: torch.device

    @classmethod
    def on(cls, device: torch.device) -> "Generator":
        generator = cls()
        generator._samedevice_device = device
        _by_address[generator._cdata] = generator
        return generator

    @property
    def device(self) -> torch.device:
        return self._samedevice_device

    def clone_state(self) -> "Generator":
        clone = Generator.on(self.device)
        clone.set_state(self.get_state())
        return clone


class _GeneratorFace(devices.Face):
    """For torch.Generator: makes a CPU's or a GPU's."""

    def __call__(self, device: Any = "cpu") -> torch.Generator:
        if devices.resolve(device).type != "cuda":
            return cpu_generator(device)
        return Generator.on(torch.device(device))  # as asked: "cuda" stays without an index


GeneratorFace = _GeneratorFace("Generator", (), {"__module__": "torch", "original": cpu_generator})


def check_generator(generator: torch.Generator | None, device: torch.device) -> None:
    """ATen/core/Generator.h, check_generator: the types must be equal; the index is not looked at."""
    if generator is None:
        return
    generator = _by_address.get(generator._cdata, generator)  # an operator gets another Python object for it
    if generator.device.type != device.type:
        raise RuntimeError(f"Expected a '{device.type}' device type for generator but found '{generator.device.type}'")


def _index(device: Any) -> torch.device:
    return devices.resolve("cuda" if device is None else device)


def manual_seed(seed: int) -> None:
    for device in devices.gpus()[devices.current() :][:1]:
        default_generator(device).manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seed every GPU. It does not use one: torch.manual_seed calls this, and a process that only seeded may fork."""
    for device in devices.gpus():
        default_generator(device).manual_seed(int(seed))


def seed() -> None:
    default_generator(_index(None)).seed()


def seed_all() -> None:
    manual_seed_all(torch.Generator().seed())


def initial_seed() -> int:
    return default_generator(_index(None)).initial_seed()


def get_rng_state(device: Any = "cuda") -> torch.Tensor:
    return default_generator(_index(device)).get_state()


def set_rng_state(new_state: torch.Tensor, device: Any = "cuda") -> None:
    default_generator(_index(device)).set_state(new_state)


def get_rng_state_all() -> list[torch.Tensor]:
    return [get_rng_state(index) for index in range(devices.count())]


def set_rng_state_all(new_states: Any) -> None:
    for index, state in enumerate(new_states):
        set_rng_state(state, index)
