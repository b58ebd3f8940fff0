"""The data of the placement explorer: what PyTorch's CUDA build was asked, packed small, and why it answers so.

The record lies where `make record` writes it, tests/conformance: the site reads it there, so there is one copy. Packed,
each text, line, answer and row of answers stands once and is named by its number, as docs/assets/explorer.js reads it.
Nothing of this file knows PyTorch's rules: `_RULES` words what the record says, which is what PyTorch's C++ named as
the line that raised, and what its table native_functions.yaml has for the operator.
"""

import functools
import gzip
import itertools
import json
import re
from pathlib import Path
from typing import Any

from samedevice import explain
from samedevice.doctor.outline import lesson_path

DEVICES = ("cpu", "cuda:0", "cuda:1")
_YAML = "aten/src/ATen/native/native_functions.yaml"
_SOURCE = "https://github.com/pytorch/pytorch/blob/v{}/"
_GENERATOR = "torchgen/dest/register_dispatch_key.py"
_COPIES = "aten/src/ATen/templates/CompositeViewCopyKernels.cpp"
_DEVICE = re.compile("|".join(DEVICES))
_WRAPPER = re.compile(r"wrapper_\w+")  # of CUDA kernels, and of those for sparse tensors

# Why, in sentences: {op} is PyTorch's name of the operator, {function} that of the C++ or Python function that raised.
_RULES: dict[str, tuple[str, list[str]]] = {
    "generated": (
        "`{op}` has a generated check: the wrapper of its CUDA kernel, which torchgen writes, compares its tensors in "
        "the order of its arguments. The first that is elsewhere than those before it is named.",
        [_GENERATOR],
    ),
    "iterator": (
        "TensorIterator, which prepares the kernel of `{op}`, looks for one device for all tensors. Only an input with "
        "0 dimensions may be left on the CPU, where the operator allows it.",
        [],
    ),
    "scalars": (
        "TensorIterator takes one CPU tensor with 0 dimensions beside tensors on a GPU, not more. Here `{op}` has "
        "more.",
        [],
    ),
    "out": ("The code that torchgen writes for `{op}` compares the out tensor with the result.", [_GENERATOR]),
    "copied": ("The code that torchgen writes for `{op}` compares the out tensor with the result.", [_COPIES]),
    "guard": (
        "No check of devices refuses it: `{function}` was to switch to the GPU of a tensor that is on the CPU.",
        [],
    ),
    "gradient": ("The autograd engine compares each gradient with the tensor that it is for, in `{function}`.", []),
    "python": ("A check in PyTorch's Python says so, in `{function}`.", []),
    "written": ("A hand-written check says so, in `{function}`.", []),
    "unnamed": ("PyTorch did not say which of its functions raised this.", []),
    "same": ("All tensors are on one device, so no check has anything to refuse.", []),
    "apart": (
        "No operator that PyTorch ran for it got tensors of two devices: each worked where its own tensors are.",
        [],
    ),
    "scalar": (
        "TensorIterator, which prepares the kernel of `{op}`, lets a CPU tensor with 0 dimensions join tensors on a "
        "GPU. It takes it as a number; the result is on the GPU.",
        [],
    ),
    "crossing": ("`{op}` is made to cross: it reads from one device and writes on the other.", []),
    "index": (
        "Indices may be on the CPU: `{op}` moves them to the device of the tensor that is indexed.",
        ["aten/src/ATen/native/IndexingUtils.h"],
    ),
    "unchecked": (
        "Nothing compares devices before `{op}` runs: its entry in the table of operators says `device_check: NoCheck`."
        " What its own code asks of them is met here.",
        [],
    ),
    "composite": (
        "`{op}` has no CUDA kernel of its own, so no check is generated for it. The operators that it is made of take "
        "this.",
        [],
    ),
    "unknown": ("It runs. Which rule lets it pass was not recorded.", []),
}
_SWAPPED = str.maketrans("12", "21")
_CROSSING = {"copy_", "_to_copy", "_copy_from"}
_INDEXED = {"index.Tensor", "index_put", "index_put_", "_index_put_impl_"}


@functools.cache
def record(root: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the header and the tables of the newest record of placements."""
    file = max((root / "tests" / "conformance").glob("torch-*[0-9]-placements.jsonl.gz"), key=_version)
    header, *tables = (json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines())
    return header, tables


def _version(file: Path) -> list[int]:
    return [int(part) for part in file.name.split("-")[1].split(".")]


@functools.cache
def packed(root: Path) -> bytes:
    """Return the data file, compressed; the same record gives the same bytes."""
    header, tables = record(root)
    text = json.dumps(_Packer(header).pack(tables), ensure_ascii=False, separators=(",", ":"))
    return gzip.compress(text.encode(), 9, mtime=0)


def operator_name(table: dict[str, Any]) -> str:
    """Return what a person picks: the operator, and the variant of its tests where there are several."""
    return " ".join(filter(None, (table["op"], table["variant"])))


def usefulness(table: dict[str, Any]) -> tuple[bool, int, int]:
    """Return a key by which what teaches most comes first: two tensors or more, no mere number, most answers."""
    several = len(table["shapes"]) > 1 and all(table["shapes"])
    # Where cuDNN would be needed, the recorder's CUDA has no answer.
    return not several, table["answers"].count(None), table["sample"]


def placements(table: dict[str, Any]) -> list[tuple[int, ...]]:
    """Return the placements of a table's answers, by the numbers of devices; the last is that of the out tensors."""
    count = len(table["shapes"]) + (table["kind"] == "out")
    if len(table["answers"]) == len(DEVICES) ** count:
        return list(itertools.product(range(len(DEVICES)), repeat=count))
    # With three tensors or more, out= was asked with the others together.
    return [(rest,) * (count - 1) + (out,) for rest, out in itertools.product(range(len(DEVICES)), repeat=2)]


def _digits(devices: list[str]) -> str:
    return "".join(str(DEVICES.index(device)) for device in devices)


class _Numbers:
    """Things by their numbers, in the order in which they were first met."""

    def __init__(self) -> None:
        self.all: list[Any] = []
        self._numbers: dict[str, int] = {}

    def of(self, thing: Any) -> int:
        key = json.dumps(thing)
        if key not in self._numbers:
            self._numbers[key] = len(self.all)
            self.all.append(thing)
        return self._numbers[key]


class _Packer:
    def __init__(self, header: dict[str, Any]) -> None:
        self._torch = header["torch"].partition("+")[0]
        self._recorded = header["recorded"]
        self._entries: dict[str, dict[str, Any]] = header["operators"]
        self._wrappers = {wrapper: name for name, entry in self._entries.items() for wrapper in entry["wrappers"]}
        self._texts, self._aten, self._lines = _Numbers(), _Numbers(), _Numbers()
        self._answers, self._rows, self._codes = _Numbers(), _Numbers(), _Numbers()
        self._codes.of("")
        self._answers.of(0)  # not recorded
        self._seen: dict[tuple[str, bool], int] = {}
        self._known: dict[tuple[str, str], list[str]] = {}

    def pack(self, tables: list[dict[str, Any]]) -> dict[str, Any]:
        samples: dict[tuple[str, int], list[dict[str, Any]]] = {}
        for table in tables:
            samples.setdefault((operator_name(table), table["sample"]), []).append(table)
        operators: dict[str, list[Any]] = {}
        # The call of each sample comes first, if it is recorded.
        for (name, number), own in sorted(samples.items(), key=lambda item: (item[0][0], usefulness(item[1][0]))):
            kinds = [[table["kind"], self._row(table), self._codes.of(table["code"] or "")] for table in own]
            operators.setdefault(name, []).append([number, own[0]["shapes"], own[0]["names"], kinds])
        return {
            "torch": self._torch,
            "recorded": self._recorded,
            "source": _SOURCE.format(self._torch),
            "yaml": _YAML,
            "devices": DEVICES,
            "rules": {name: {"says": says, "links": links} for name, (says, links) in _RULES.items()},
            "texts": self._texts.all,
            "aten": self._aten.all,
            "lines": self._lines.all,
            "answers": self._answers.all,
            "rows": self._rows.all,
            "codes": self._codes.all,
            "operators": list(operators.items()),
        }

    def _row(self, table: dict[str, Any]) -> int:
        """Return the number of a table's answers."""
        together = [len(set(placement)) == 1 for placement in placements(table)]
        return self._rows.of(list(map(self._answer, table["answers"], together)))

    def _answer(self, found: Any, together: bool) -> int:
        """Return the number of an answer; `together` says that all tensors are on one device."""
        if found is None:
            return 0
        key = (repr(found), together)
        if key not in self._seen:
            if isinstance(found[0], str):
                packed = self._refused(*found)
            else:
                devices, mixed = found
                packed = self._accepted(devices, mixed, together)
            self._seen[key] = self._answers.of(packed)
        return self._seen[key]

    def _refused(self, error: str, message: str, raised: str, line: str) -> list[Any]:
        plain, digits = _DEVICE.sub("{}", message), _digits(_DEVICE.findall(message))
        # What is likely differs between the CPU and a GPU and between two GPUs, not with which GPU is the first.
        key = (plain, digits.translate(_SWAPPED) if "2" in digits.partition("1")[0] else digits)
        if key not in self._known:
            known = explain(f"{error}: {message}")
            # The page of the message, and the lesson that runs its likeliest cause.
            lesson = lesson_path(known.causes[0].cause) if known.causes else ""
            self._known[key] = [known.message.id if known.message else "", lesson]
        text = self._texts.of([error, plain, *self._known[key]])
        return [text, digits, self._refusal(message, raised, line)]

    def _accepted(self, devices: list[str], mixed: list[str], together: bool) -> list[Any]:
        if not mixed:
            return [-1, _digits(devices), [["same" if together else "apart", -1, -1]]]
        named = [one.partition(" ") for one in mixed]
        why = [[self._permission(op, bool(scalar)), self._op(op), -1] for op, _, scalar in named]
        return [-1, _digits(devices), why]

    def _refusal(self, message: str, raised: str, line: str) -> list[Any]:
        """Return the check that raised it, with the operator and the line."""
        function, _, place = line.partition(" ")
        wrapper = _WRAPPER.search(message)
        if wrapper:
            return ["generated", self._op(self._wrappers.get(wrapper[0], raised)), self._lines.of(line)]
        if "TensorIterator.cpp" in place:
            rule = "scalars" if "too many CPU scalars" in message else "iterator"
        elif place.startswith("build/"):
            rule = "copied" if "CompositeViewCopyKernels" in place else "out"
        elif function == "CUDAGuardImpl":
            rule = "guard"
        elif "autograd/engine.cpp" in place:
            rule = "gradient"
        elif place.startswith("torch/") and ".py:" in place:
            rule = "python"
        else:
            rule = "written" if line else "unnamed"
        return [rule, self._op(raised), self._lines.of(line)]

    def _permission(self, name: str, scalar: bool) -> str:
        entry = self._entries.get(name)
        if name in _CROSSING:
            return "crossing"
        if name in _INDEXED:
            return "index"
        if not entry:
            return "unknown"
        if scalar and entry["iterator"]:
            return "scalar"
        if not entry["cuda"]:
            return "composite"
        return "unknown" if entry["check"] else "unchecked"

    def _op(self, name: str) -> int:
        """Return the number of an operator of PyTorch's, with the line of its entry in the table of them."""
        if not name or name == "?":
            return -1
        return self._aten.of([name, self._entries.get(name, {}).get("line", 0)])
