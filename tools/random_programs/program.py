"""A random program: its tensors on simulated GPUs and the same on the CPU, and how each line of it is run and compared.

A line is text, so what is printed is what ran. Before it runs, the rules say where its results will be, or with which
text CUDA refuses it. A line that is refused must leave everything as it was: the program goes on after it.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy
import torch
from torch.nn import functional as F  # noqa: N812
from torch.utils.checkpoint import checkpoint

from random_programs import classes
from random_programs.rules import Refused
from record.errors import OF_THE_CPU

NAMES = 10  # x0 to x9


class Difference(AssertionError):  # noqa: N818 - named for what it is
    """An answer of the simulation that differs from the rules' or the CPU's; the text is the program."""


class Operand(NamedTuple):
    """A tensor of the program: where the rules say it is, and what it is on the CPU."""

    name: str
    device: str
    twin: Any

    @property
    def number(self) -> int:
        return int(self.name.removeprefix("x"))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.twin.shape)

    @property
    def stride(self) -> tuple[int, ...]:
        return tuple(self.twin.stride())

    @property
    def is_usable(self) -> bool:
        try:
            return self.twin.grad_fn is None or True
        except RuntimeError:
            return False

    @property
    def is_float(self) -> bool:
        return bool(self.twin.is_floating_point())

    @property
    def requires_grad(self) -> bool:
        return bool(self.twin.requires_grad)

    @property
    def is_leaf(self) -> bool:
        return bool(self.twin.is_leaf)

    def has_form_of(self, other: torch.Tensor) -> bool:
        return self.shape == tuple(other.shape) and self.twin.dtype == other.dtype

    def at(self, device: str) -> "Operand":
        return self._replace(device=device)

    def __str__(self) -> str:
        return self.name


class Line(NamedTuple):
    """A line of the program. `on_cpu` is the line for plain CPU tensors, if more differs than a device's name."""

    text: str
    devices: tuple[str, ...] = ()  # of the results
    on_cpu: str = ""
    target: str = ""  # the tensor that moves to devices[0], of `x.data = y`
    backward: bool = False  # whether gradients may have changed
    refused: Refused | None = None
    reads_values: bool = False  # its outcome depends on values: not for a GPU that computes none


def judged(text: str, rule: Callable[[], str | None], **more: Any) -> Line:
    """Make a line whose result, if it has one, is where the rule says; the rule may refuse the line."""
    try:
        device = rule()
    except Refused as refused:
        return Line(text, refused=refused, **more)
    return Line(text, (device,) if device else (), **more)


class Program:
    """The tensors of a program, by name, in two worlds that must agree."""

    def __init__(self, cuda_only: bool = False) -> None:
        self.cuda_only = cuda_only  # on PyTorch's CUDA build without a GPU: devices are compared, values are not
        self.lines: list[str] = []
        self.devices: dict[str, str] = {}
        self.here: dict[str, Any] = {"torch": torch, "F": F, "checkpoint": checkpoint, "numpy": numpy}
        self.here |= classes.BY_NAME
        self.twin: dict[str, Any] = dict(self.here)
        self.ran = self.refused = 0  # lines, and how many of them the rules refused
        self._born: dict[str, tuple[int, int]] = {}  # the version counters of each tensor when it was made
        self.no_grad = False  # whether the next line runs without autograd

    def operands(self) -> list[Operand]:
        """Return the tensors that a line may use: not those views that autograd refuses to everybody."""
        operands = [Operand(name, device, self.twin[name]) for name, device in self.devices.items()]
        return [operand for operand in operands if operand.is_usable]

    def run(self, line: Line, number: int = 0) -> None:
        """Run one line in both worlds and compare; raise Difference with the program so far.

        Its results are named from `number` on, so they may take the names of earlier tensors.
        """
        if self.cuda_only and line.reads_values:
            return
        names = [] if line.target else [f"x{(number + place) % NAMES}" for place in range(len(line.devices))]
        bind = f"{', '.join(names)}{',' if len(names) > 1 else ''} = " if names else ""
        on_cpu = line.on_cpu or re.sub("'cuda:.'", "'cpu'", line.text)
        text, on_cpu = (self._statement(source, bind) for source in (line.text, on_cpu))
        if line.refused:
            expected: tuple[type, str] | None = (line.refused.kind, line.refused.text)
        else:
            expected = _outcome(on_cpu, self.twin)
        self.ran += 1
        self.refused += line.refused is not None
        self.lines.append(text + (f"  # {expected[0].__name__}: {expected[1]}".splitlines()[0] if expected else ""))
        if self.cuda_only and expected and not line.refused:
            self.lines.pop()
            return  # of autograd and dtypes, by the CPU's leave
        found = _outcome(text, self.here)
        if _without_names(found) != _without_names(expected):
            self._differ(f"raised {_said(found)}\nexpected {_said(expected)}")
        if found and not line.refused and not self.cuda_only and OF_THE_CPU.search(found[1]):
            used = [device for name, device in self.devices.items() if re.search(rf"\b{name}\b", text)]
            if used and all(device.startswith("cuda") for device in used):
                self._differ(f"raised {_said(found)}\nexpected no word of the CPU")
        if expected is None:
            for name in names:
                self._born.pop(name, None)  # a name may be an earlier tensor's
            moved = [name for name in self.devices if line.target and self.twin[name] is self.twin[line.target]]
            self.devices.update(dict.fromkeys(moved, *line.devices) if moved else zip(names, line.devices, strict=True))
        # What makes new tensors changes no others, and finish() looks at all once more: that saves half the time.
        self._compare(names if names and expected is None else self.devices, line.backward)
        if str(self.here.get("read")) != str(self.twin.get("read")) and not self.cuda_only:  # nan differs from itself
            self._differ(f"read {self.here['read']!r}\nexpected {self.twin['read']!r}")

    def _statement(self, text: str, bind: str) -> str:
        """Return the line as Python; a `|` ends what goes before the expression, such as `with torch.no_grad(): `."""
        around, _, expression = text.rpartition("|")
        if self.no_grad:
            around = around.replace("with ", "with torch.no_grad(), ") or "with torch.no_grad(): "
        return f"{around}{bind}{expression}"

    def finish(self) -> None:
        """Compare all tensors once more, and which of them share memory."""
        self._compare(self.devices, True)
        if self.cuda_only:
            return
        partitions = []
        for world in (self.here, self.twin):
            places: dict[int, list[str]] = {}
            for name in self.devices:
                if world[name].numel():
                    for place in classes.memory(world[name]):
                        places.setdefault(place, []).append(name)
            partitions.append(sorted(places.values()))
        if partitions[0] != partitions[1]:
            self._differ(f"memory is shared by {partitions[0]}\nexpected {partitions[1]}")

    def _compare(self, names: Iterable[str], gradients: bool) -> None:
        for name in names:
            self._compare_one(Operand(name, self.devices[name], self.twin[name]), gradients)

    def _compare_one(self, operand: Operand, gradients: bool) -> None:
        here = self.here[operand.name]
        found = _facts(here, self.cuda_only)
        expected = _facts(operand.twin, self.cuda_only, operand.device)
        if not self.cuda_only:
            born = self._born.setdefault(operand.name, (here._version, operand.twin._version))
            found["writes"], expected["writes"] = here._version - born[0], operand.twin._version - born[1]
        self._hold(operand.name, found, expected)
        if gradients and operand.is_usable and operand.twin.is_leaf and operand.requires_grad:
            gradient, wanted = here.grad, operand.twin.grad
            if (gradient is None) != (wanted is None):
                self._differ(f"{operand}.grad is {gradient}\nexpected {wanted}")
            if wanted is not None:
                found = _facts(gradient, self.cuda_only)
                expected = _facts(wanted, self.cuda_only, operand.device)
                for key in ("stride", "offset", "is_view"):  # those of a copy, where devices differ
                    found[key] = expected[key] = None
                self._hold(f"{operand}.grad", found, expected)

    def _hold(self, name: str, found: dict[str, Any], expected: dict[str, Any]) -> None:
        if found != expected:
            keys = [key for key in found if found[key] != expected.get(key)]
            self._differ("\n".join(f"{name}.{key} is {found[key]}\nexpected {expected.get(key)}" for key in keys))

    def _differ(self, how: str) -> None:
        raise Difference(f"{self}\n\nThe last line {how}" if how.startswith(("raised", "read")) else f"{self}\n\n{how}")

    def __str__(self) -> str:
        """Return the program, to be pasted and run. The comment behind a line is the error that is expected there."""
        start = ["import torch", "from torch.nn import functional as F", "from samedevice import simulate_cuda", ""]
        for name, line in (
            ("numpy.full(", "import numpy"),
            ("checkpoint(", "from torch.utils.checkpoint import checkpoint"),
            ("torch.ops.random_programs", "from random_programs import operators"),
            *((name, f"from random_programs.classes import {name}") for name in classes.BY_NAME),
        ):
            if any(name in each for each in self.lines):
                start.insert(2, line)
        body: list[str] = []
        for line in self.lines:
            text, _, error = line.partition("  # ")
            body += (
                ["try:", f"    {text}", f"except Exception as error:  # {error}", "    print(error)"]
                if error
                else [line]
            )
        body = [f"    {line}" for line in body]
        return "\n".join([*start, "with simulate_cuda(devices=2):", *body])


def _outcome(text: str, world: dict[str, Any]) -> tuple[type, str] | None:
    """Run a line; return what it raised, or None."""
    try:
        exec(text, world)
    except Exception as error:
        return type(error), str(error)
    return None


def _without_names(outcome: tuple[type, str] | None) -> tuple[type, str] | None:
    """Take the names of tensors' types and of kernels out of a text, because those of the CPU differ."""
    if outcome is None:
        return None
    text = outcome[1].replace("torch.cuda.", "torch.").replace("[CUDABoolType", "[CPUBoolType")
    text = re.sub(r"(?<=for possible resolutions\.).*", "", text, flags=re.DOTALL)  # a list of all backends
    return outcome[0], re.sub(r'^"\w+"(?= not implemented for)', "a kernel", text)


def _said(outcome: tuple[type, str] | None) -> str:
    return f"{outcome[0].__name__}: {outcome[1]}" if outcome else "nothing"


def _facts(tensor: Any, without_values: bool, device: str | None = None) -> dict[str, Any]:
    """Return what is compared of a tensor, which is on `device` by the rules."""
    place = device or str(tensor.device)
    try:
        tensor.grad_fn  # noqa: B018
    except RuntimeError as error:  # a view that may not be used any more
        return {"device": place, "refuses": str(error)}
    facts = {
        "device": place,
        "class": tensor.__class__.__name__,
        "shape": tuple(tensor.shape),
        "dtype": tensor.dtype,
        "requires_grad": tensor.requires_grad,
        "is_leaf": tensor.is_leaf,
        "is_view": tensor._is_view(),
    }
    if not without_values:
        facts["stride"] = tensor.stride()
        facts["offset"] = tensor.storage_offset()
        facts["has_grad_fn"] = tensor.grad_fn is not None
        if not isinstance(tensor, classes.TwoTensor):
            (plain,) = classes.plain(tensor)
            facts["values"] = str(plain.cpu().tolist())  # as text, since nan differs from itself
    if isinstance(tensor, classes.TwoTensor):
        facts["held"] = [_facts(x, without_values, device) for x in (tensor.a, tensor.b)]
    return facts
