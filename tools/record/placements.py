"""Questions for the site's placement explorer: each tensor of a sample on each device, and what ran inside.

operators.py asks of many placements what the simulation must answer; here one table holds all of them, so that a person
can put any argument anywhere. A table is an operator, one of its samples and a kind of call (call, inplace, out,
backward), and has an answer for each placement on cpu, cuda:0 and cuda:1, in the order of itertools.product. With out=,
the last device of a placement is that of the out tensors; with three tensors or more, the others are then together.

An answer is [devices of the results, operators that got tensors of two devices], or [type of the error, text, operator
that raised it or "", function and line of PyTorch's source that raised it]; null is an answer that a CUDA without a GPU
cannot give. `code` is a line of Python with a {} for each tensor's device. It was run at every placement that has an
answer, and answered the same.
"""

import contextlib
import importlib.resources
import inspect
import itertools
import json
import re
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import torch
import yaml
from torch.fx.operator_schemas import normalize_function
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import keystr, tree_flatten_with_path, tree_leaves

from record.errors import text
from record.operators import Sample, ask, devices, different, reference, samples

DEVICES = ("cpu", "cuda:0", "cuda:1")
_MOST_TENSORS = 6
_MOST_WITH_OUT = 2  # tensors that are placed one by one beside out=


class Ran(TorchDispatchMode):
    """A mode that sees the operators that a call reaches below its C++ and Python, and which of them raised."""

    def __init__(self) -> None:
        super().__init__()
        self.mixed: list[str] = []
        self.raised = ""

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        tensors = [x for x in tree_leaves((args, kwargs or {})) if isinstance(x, torch.Tensor)]
        name = str(function).removeprefix("aten.").removesuffix(".default")
        if len({x.device for x in tensors}) > 1:
            scalar = all(x.dim() == 0 for x in tensors if x.device.type == "cpu")
            gpus = len({x.device for x in tensors if x.device.type != "cpu"})
            found = f"{name} 0-dim" if scalar and gpus == 1 else name
            if found not in self.mixed:
                self.mixed.append(found)
        try:
            return function(*args, **(kwargs or {}))
        except Exception:
            self.raised = self.raised or name
            raise


def tables(op: Any, not_asked: Callable[[dict[str, Any]], bool]) -> Iterator[dict[str, Any]]:
    """Yield every table of an operator, without the answers of which `not_asked` is true."""
    for place, sample in enumerate(_samples(op)):
        result = reference(op, sample) if op.supports_out else None
        accepted: set[tuple[str, ...]] = set()
        for kind in ("call", "inplace", "out", "backward"):
            if (
                (kind == "inplace" and not op.inplace_variant)
                or (kind == "out" and result is None)
                or (kind == "backward" and (place or not op.supports_autograd))
            ):
                continue
            answers: list[Any] = []
            for placement in _placements(len(sample.tensors), kind):
                if kind == "backward" and placement not in accepted:
                    answers.append((placement, None))
                    continue
                found = _ask(op, sample, kind, placement, result)
                if kind == "call" and "ok" in found:
                    accepted.add(placement)
                answers.append((placement, None if not_asked(found) else found))
            if not any(found for _, found in answers):
                continue
            code = next((line for line in _lines(op, sample, kind) if _agrees(line, kind, answers)), None)
            yield {
                "op": op.name, "variant": op.variant_test_name, "sample": sample.number, "shapes": sample.shapes,
                "types": [str(x.dtype).removeprefix("torch.") for x in sample.tensors], "names": _names(op, sample),
                "kind": kind, "code": code, "answers": [_short(found) for _, found in answers],
            }  # fmt: skip


def _samples(op: Any) -> list[Sample]:
    """Return the samples that differ, and one with two tensors: the point is where they meet."""
    found = different(op)
    if all(len(sample.tensors) < 2 for sample in found):
        found += [sample for sample in samples(op) if 2 <= len(sample.tensors) <= _MOST_TENSORS][:1]
    return found


def _placements(count: int, kind: str) -> Iterator[tuple[str, ...]]:
    if kind == "out" and count > _MOST_WITH_OUT:
        for rest, out in itertools.product(DEVICES, repeat=2):
            yield (rest,) * count + (out,)
    else:
        yield from itertools.product(DEVICES, repeat=count + (kind == "out"))


def _ask(op: Any, sample: Sample, kind: str, placement: tuple[str, ...], result: Any) -> dict[str, Any]:
    """Return the answer and what PyTorch did for it, which is left out if looking on changes the answer."""
    tensors, kind = (placement[:-1], f"out={placement[-1]}") if kind == "out" else (placement, kind)
    found: dict[str, Any]
    try:
        found = {"ok": devices(op, sample, kind, list(tensors), result), "mixed": []}
    except Exception as error:
        found = {"error": type(error).__name__, "message": text(error), "raised": "", "line": _line_of(error)}
    if "ok" in found and len(set(placement)) == 1:
        return found
    with Ran() as ran:
        seen = ask(op, sample, kind, list(tensors), result)
    same = all(found[key] == value for key, value in seen.items() if key in found) and ("ok" in seen) == ("ok" in found)
    if "ok" in found:
        return found | {"mixed": ran.mixed if same else ["?"]}
    return found | {"raised": ran.raised if same else ""}


def _line_of(error: Exception) -> str:
    """Return the function and the line of PyTorch's source that raised: C++ says so, and Python has a traceback."""
    told = re.search(r"\nException raised from (.+) at \S*?/((?:build/)?(?:aten|c10|torch)/\S+:\d+) \(", str(error))
    if told:
        return f"{told[1]} {told[2]}"
    frame = traceback.extract_tb(error.__traceback__)[-1]
    path = frame.filename.rpartition("/site-packages/")[2]
    return f"{frame.name} {path}:{frame.lineno}" if path.startswith("torch/") else ""


def _short(found: dict[str, Any] | None) -> Any:
    if found is None:
        return None
    return (
        [found["ok"], found["mixed"]]
        if "ok" in found
        else [found["error"], found["message"], found["raised"], found["line"]]
    )


def _names(op: Any, sample: Sample) -> list[str]:
    """Return what PyTorch's schema, or a Python function's signature, calls each tensor, or "" for each."""
    _, first, args, kwargs = sample.placed(["cpu"] * len(sample.tensors))
    tensors = [x for x in tree_leaves((first, args, kwargs)) if isinstance(x, torch.Tensor)]
    for given in _given(op, (first, *args), kwargs):
        paths = {id(x): keystr(path) for path, x in tree_flatten_with_path(given)[0]}
        if all(id(x) in paths for x in tensors):
            return [re.sub(r"^\['(\w+)'\]", r"\1", paths[id(x)]) for x in tensors]
    return ["" for _ in tensors]


def _given(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the arguments by name: by Python's signature, torch.fx, and the one schema that has as many tensors."""
    with contextlib.suppress(Exception):
        if inspect.isfunction(op.op) and not op.op.__module__.startswith("torch.testing."):
            yield dict(inspect.signature(op.op).bind(*args, **kwargs).arguments)
        else:
            types = {name: type(value) for name, value in kwargs.items()}
            found = normalize_function(op.op, args, kwargs, tuple(map(type, args)), types, True)
            if found:
                yield found.kwargs
    named: list[dict[str, Any]] = []
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{op.aten_name.rpartition('.')[2]}"):
        places = [place for place in schema.arguments if not place.kwarg_only]
        if len(args) <= len(places) and all(
            ("Tensor" in str(place.type)) == any(isinstance(x, torch.Tensor) for x in tree_leaves(value))
            for place, value in zip(places, args, strict=False)
        ):
            one = {place.name: value for place, value in zip(places, args, strict=False)} | kwargs
            if list(one) not in map(list, named):
                named.append(one)
    if len(named) == 1:
        yield named[0]


def _lines(op: Any, sample: Sample, kind: str) -> Iterator[str]:
    """Yield lines of Python that may be this case; integers of 0 are indices in range, those of 1 can be divided by."""
    for integer in ("zeros", "ones"):
        line = _line(op, sample, kind, integer)
        if line:
            yield line


def _line(op: Any, sample: Sample, kind: str, integer: str) -> str | None:
    def shown(x: Any) -> str:
        if isinstance(x, torch.Tensor):
            whole = not (x.is_floating_point() or x.is_complex() or x.dtype is torch.bool)
            options = "" if x.dtype is torch.float32 else f", dtype={x.dtype}"
            options += ", requires_grad=True" if kind == "backward" and x.is_floating_point() else ""
            size = ", ".join(map(str, x.shape)) if x.dim() else "()"
            return f"torch.{integer if whole else 'ones'}({size}, device='{{}}'{options})"
        if isinstance(x, (list, tuple)) and type(x) in (list, tuple, torch.Size):
            items = ", ".join(map(shown, x))
            return f"[{items}]" if isinstance(x, list) else f"({items}{',' if len(x) == 1 else ''})"
        if x is None or type(x) in (bool, int, str, torch.dtype) or (type(x) in (float, complex) and x == x):
            return repr(x).replace("{", "{{").replace("}", "}}")
        raise TypeError(x)

    _, first, args, kwargs = sample.placed(["cpu"] * len(sample.tensors))
    try:
        rest = [*map(shown, args), *(f"{name}={shown(value)}" for name, value in kwargs.items())]
        if kind == "inplace":
            name = f"{op.name}_"
            if not hasattr(torch.Tensor, name):
                return None
            return f"{shown(first)}.{name}({', '.join(rest)})"
        names = [f"torch.{op.name}", f"torch.Tensor.{op.name}"]
        name = next(name for name in names if _there(name))
        if kind == "out":
            result = reference(op, sample)
            outs = [result] if isinstance(result, torch.Tensor) else list(result)
            # Each with the device of the last place, which is one.
            made = [_empty(x) for x in outs]
            rest.append(f"out={made[0]}" if isinstance(result, torch.Tensor) else f"out=({', '.join(made)},)")
        call = f"{name}({', '.join([shown(first), *rest])})"
        return f"{call}.sum().backward()" if kind == "backward" else call
    except (TypeError, StopIteration):
        return None


def _there(name: str) -> bool:
    """Tell whether torch has a function of this name; op_db may call it in another way, which `_agrees` would tell."""
    try:
        return callable(eval(name))
    except (AttributeError, SyntaxError):
        return False


def _empty(x: torch.Tensor) -> str:
    size = ", ".join(map(str, x.shape)) if x.dim() else "()"
    options = "" if x.dtype is torch.float32 else f", dtype={x.dtype}"
    return f"torch.empty({size}, device='{{}}'{options})"


def _agrees(line: str, kind: str, answers: list[tuple[tuple[str, ...], Any]]) -> bool:
    """Tell whether the line answers as was recorded, wherever that is."""
    for placement, found in answers:
        if found is None:
            continue
        places = list(placement)
        places += [placement[-1]] * (line.count("'{}'") - len(places))  # of out tensors there may be several
        try:
            result = eval(line.format(*places))
        except Exception as error:
            if found.get("error") != type(error).__name__ or found["message"] != text(error):
                return False
            continue
        leaves = [str(x.device) for x in tree_leaves(result) if isinstance(x, torch.Tensor)]
        if "ok" not in found or (kind != "backward" and leaves != found["ok"]):
            return False
    return True


def operators(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return what native_functions.yaml says of each operator that the answers name, and on which of its lines.

    `wrappers` are the names under which the texts of the generated check print it, `check` whether it has that check,
    `iterator` whether its kernel is structured upon TensorIterator.
    """
    said = json.dumps(rows)
    named = set(re.findall(r'"([A-Za-z_]\w*(?:\.\w+)?)(?: 0-dim)?"', said))
    printed = set(re.findall(r"wrapper_CUDA_\w+", said))
    path = importlib.resources.files("torchgen") / "packaged/ATen/native/native_functions.yaml"
    source = path.read_text("utf-8")
    lines = {
        entry[1]: source.count("\n", 0, entry.start()) + 1
        for entry in re.finditer(r"^- func: ([\w.]+)\(", source, flags=re.MULTILINE)
    }
    table = {entry["func"].partition("(")[0]: entry for entry in yaml.load(source, yaml.CSafeLoader)}
    found = {}
    for signature, entry in table.items():
        name, _, overload = signature.partition(".")
        kernels = {key.strip() for keys in entry.get("dispatch", {}) for key in keys.split(",")}
        parent = table[entry["structured_delegate"]] if "structured_delegate" in entry else entry
        structured = bool(entry.get("structured") or "structured_delegate" in entry)
        suffix = f"_{overload}" if overload else ""
        possible = (
            {f"wrapper_CUDA_{name}{suffix}", f"wrapper_CUDA_{name}_out{suffix}"}
            if structured
            else {f"wrapper_CUDA_{overload}_{name}", f"wrapper_CUDA_{overload}_{name}_out"}
        )
        has_check = (structured or "CUDA" in kernels) and entry.get("device_check") != "NoCheck"
        wrappers = sorted(possible & printed) if has_check else []
        if signature in named or wrappers:
            found[signature] = {
                "line": lines[signature],
                "cuda": structured or "CUDA" in kernels,
                "check": entry.get("device_check") != "NoCheck",
                "iterator": parent.get("structured_inherits") == "TensorIteratorBase",
                "wrappers": wrappers,
            }
    return found
