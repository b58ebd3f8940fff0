"""A TorchDispatchMode, DebugMode or FlopCounterMode sees the operators of PyTorch's CUDA build, on its devices.

The lines are that build's (2.13.0): operator, devices of the tensors given, keyword arguments, devices of the results.
"""

import gc
import io
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from typing import Any

import pytest
import torch
from torch.utils._debug_mode import DebugMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode
from torch.utils.module_tracker import ModuleTracker

pytestmark = pytest.mark.usefixtures("two_gpus")


class Notes(TorchDispatchMode):
    """Notes the operators that come by."""

    def __init__(self, name: str = "", notes: list[str] | None = None) -> None:
        super().__init__()
        self.name, self.notes = name, [] if notes is None else notes

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = _places([args, kwargs])
        made = func(*args, **(kwargs or {}))
        named = " ".join(f"{name}={str(value).removeprefix('torch.')}" for name, value in (kwargs or {}).items())
        parts = (self.name, str(func).removeprefix("aten."), given, f"{{{named}}}", "->", _places(made))
        self.notes.append(" ".join(part for part in parts if part))
        return made


def _places(tree: Any) -> str:
    return "[" + " ".join(str(leaf.device) for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)) + "]"


def noted(act: Callable[[], Any]) -> list[str]:
    with Notes() as mode:
        act()
    return mode.notes


@pytest.fixture
def x() -> torch.Tensor:
    return torch.arange(4.0).cuda()


@pytest.fixture
def c() -> torch.Tensor:
    return torch.arange(4.0)


_TO_CPU = "_to_copy.default [cuda:0] {dtype=float32 layout=strided device=cpu} -> [cpu]"
_TO_GPU = "_to_copy.default [cpu] {dtype=float32 layout=strided device=cuda:0} -> [cuda:0]"
_LIFT = "lift_fresh.default [cuda:0] {} -> [cuda:0]"

_MOVES = {
    "x.cpu()": [_TO_CPU],
    "x.to('cpu')": [_TO_CPU],
    "x.to('cpu', torch.half)": ["_to_copy.default [cuda:0] {dtype=float16 device=cpu} -> [cpu]"],
    "x.to('cpu', non_blocking=True)": [_TO_CPU.replace("=cpu}", "=cpu non_blocking=True}")],
    "x.cpu(memory_format=torch.contiguous_format)": [_TO_CPU.replace("=cpu}", "=cpu memory_format=contiguous_format}")],
    "x.to('cuda:1')": ["_to_copy.default [cuda:0] {dtype=float32 layout=strided device=cuda:1} -> [cuda:1]"],
    "x.to('cuda')": [],
    "x.half()": ["_to_copy.default [cuda:0] {dtype=float16} -> [cuda:0]"],
    "x.to('meta')": ["_to_copy.default [cuda:0] {dtype=float32 layout=strided device=meta} -> [meta]"],
    "x.tolist()": [_TO_CPU],
    "x.numpy(force=True)": ["detach.default [cuda:0] {} -> [cuda:0]", _TO_CPU],
    "x[0].item()": ["select.int [cuda:0] {} -> [cuda:0]", "_local_scalar_dense.default [cuda:0] {} -> []"],
    "c.to('cuda')": [_TO_GPU],
    "c.cuda()": [_TO_GPU],
    "c.cuda(non_blocking=True)": [_TO_GPU.replace("cuda:0}", "cuda:0 non_blocking=True}")],
    "c.type('torch.cuda.HalfTensor')": ["_to_copy.default [cpu] {dtype=float16 device=cuda:0} -> [cuda:0]"],
    "torch.nn.Parameter(c.cuda())": [_TO_GPU],
    "torch.nn.Linear(2, 2).cuda()": [
        *["empty.memory_format [] {device=cpu pin_memory=False} -> [cpu]"] * 2,
        *["uniform_.default [cpu] {} -> [cpu]"] * 2,
        *[_TO_GPU] * 2,
    ],
    "c.copy_(x)": ["copy_.default [cpu cuda:0] {} -> [cpu]"],
    "x[c.long()]": [
        "_to_copy.default [cpu] {dtype=int64} -> [cpu]",
        "index.Tensor [cuda:0 cpu] {} -> [cuda:0]",
    ],
}

_FACTORIES = {
    "torch.zeros(3, device='cuda')": ["zeros.default [] {device=cuda pin_memory=False} -> [cuda:0]"],
    "torch.zeros(3, device=1)": ["zeros.default [] {device=cuda:1 pin_memory=False} -> [cuda:1]"],
    "torch.zeros(3, device='cuda:1', dtype=torch.half)": [
        "zeros.default [] {dtype=float16 device=cuda:1 pin_memory=False} -> [cuda:1]"
    ],
    "torch.arange(3, device='cuda')": ["arange.default [] {device=cuda pin_memory=False} -> [cuda:0]"],
    "torch.linspace(0, 1, 3, device='cuda')": ["linspace.default [] {device=cuda pin_memory=False} -> [cuda:0]"],
    "torch.randn(3, device='cuda')": ["randn.default [] {device=cuda pin_memory=False} -> [cuda:0]"],
    "torch.randperm(3, device='cuda')": ["randperm.default [] {device=cuda pin_memory=False} -> [cuda:0]"],
    "torch.tril_indices(2, 2, device='cuda')": ["tril_indices.default [] {device=cuda pin_memory=False} -> [cuda:0]"],
    "torch.hann_window(3, device='cuda')": ["hann_window.default [] {device=cuda pin_memory=False} -> [cuda:0]"],
    "torch.fft.fftfreq(3, device='cuda')": ["fft_fftfreq.default [] {device=cuda pin_memory=False} -> [cuda:0]"],
    "torch.normal(0., 1., (2,), device='cuda')": ["normal.float_float [] {device=cuda pin_memory=False} -> [cuda:0]"],
    "torch.zeros_like(x)": ["zeros_like.default [cuda:0] {pin_memory=False} -> [cuda:0]"],
    "torch.zeros_like(x, device='cpu')": ["zeros_like.default [cuda:0] {device=cpu pin_memory=False} -> [cpu]"],
    "torch.zeros_like(x, device='cuda:1')": [
        "zeros_like.default [cuda:0] {device=cuda:1 pin_memory=False} -> [cuda:1]"
    ],
    "torch.zeros_like(c, device='cuda')": ["zeros_like.default [cpu] {device=cuda pin_memory=False} -> [cuda:0]"],
    "torch.full_like(x, 1.)": ["full_like.default [cuda:0] {pin_memory=False} -> [cuda:0]"],
    "torch.rand_like(x)": ["rand_like.default [cuda:0] {pin_memory=False} -> [cuda:0]"],
    "x.new_zeros(2)": ["new_zeros.default [cuda:0] {pin_memory=False} -> [cuda:0]"],
    "x.new_zeros(2, device='cpu')": ["new_zeros.default [cuda:0] {device=cpu pin_memory=False} -> [cpu]"],
    "c.new_ones(2, device='cuda')": ["new_ones.default [cpu] {device=cuda pin_memory=False} -> [cuda:0]"],
    "x.new_tensor([1.])": [_LIFT],
    "torch.tensor([1., 2.], device='cuda')": [_LIFT],
    "torch.as_tensor([1.], device='cuda')": [_LIFT],
    "torch.as_tensor(c, device='cuda')": ["_to_copy.default [cpu] {dtype=float32 device=cuda:0} -> [cuda:0]"],
    "torch.tensor([1., 2.])": ["lift_fresh.default [cpu] {} -> [cpu]"],
}


@pytest.mark.parametrize("text", [*_MOVES, *_FACTORIES])
def test_a_mode_sees_devices_as_on_cuda(text: str, x: torch.Tensor, c: torch.Tensor) -> None:
    assert noted(lambda: eval(text, globals(), {"x": x, "c": c})) == (_MOVES | _FACTORIES)[text]


@pytest.mark.parametrize("text", [text for text in [*_MOVES, *_FACTORIES] if "Linear" not in text])
def test_values_are_the_same_under_a_mode(text: str, x: torch.Tensor, c: torch.Tensor) -> None:
    torch.manual_seed(0)
    expected = eval(text, globals(), {"x": x, "c": c})
    torch.manual_seed(0)
    with Notes():
        seen = eval(text, globals(), {"x": x, "c": c})
    assert type(seen) is type(expected)
    if isinstance(seen, torch.Tensor):
        assert seen.device == expected.device
        assert seen.dtype == expected.dtype
        assert seen.is_meta or torch.equal(seen, expected)


def test_the_default_device_is_named() -> None:
    torch.set_default_device("cuda")
    try:
        notes = noted(lambda: [torch.zeros(2), torch.tensor([1.0])])
    finally:
        torch.set_default_device(None)
    with torch.device("cuda:1"):
        notes += noted(lambda: torch.zeros(2))
    assert notes == [
        "zeros.default [] {device=cuda pin_memory=False} -> [cuda:0]",
        _LIFT,
        "zeros.default [] {device=cuda:1 pin_memory=False} -> [cuda:1]",
    ]


def test_a_mode_may_change_the_call() -> None:
    class ToDouble(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs | {"dtype": torch.float64, "device": torch.device("cuda:1")}))

    with ToDouble():
        made = torch.zeros(2, device="cuda"), torch.ones(2, device="cpu"), torch.zeros(2, device="cuda").cpu()
    assert {(x.dtype, str(x.device)) for x in made} == {(torch.float64, "cuda:1")}


def test_modes_nest(x: torch.Tensor) -> None:
    notes: list[str] = []
    with Notes("outer", notes), Notes("inner", notes):
        x.cpu()
        torch.zeros(2, device="cuda")
    zeros = "zeros.default [] {device=cuda pin_memory=False} -> [cuda:0]"
    assert notes == [f"outer {_TO_CPU}", f"inner {_TO_CPU}", f"outer {zeros}", f"inner {zeros}"]


def test_a_mode_is_given_the_types_of_cuda(x: torch.Tensor) -> None:
    class Types(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(types)
            return func(*args, **(kwargs or {}))

    seen: list[Any] = []
    mode = Types()
    before = dict(vars(mode))
    with mode, mode:
        x + torch.nn.Parameter(x)
    assert set(seen) == {()}
    assert vars(mode) == before


def test_what_a_mode_does_itself_is_not_seen(x: torch.Tensor) -> None:
    class Looks(Notes):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            made = super().__torch_dispatch__(func, types, args, kwargs)
            assert made.cpu().tolist() == made.tolist()
            assert repr(made)
            return made

    with Looks() as mode:
        (x + 1).cpu()
    assert mode.notes == ["add.Tensor [cuda:0] {} -> [cuda:0]", _TO_CPU]


def _backward(loss: torch.Tensor) -> Iterator[str]:
    for note in noted(loss.backward):
        if not note.startswith(("ones_like", "expand", "detach")):
            yield note


def test_backward_names_the_gpu(x: torch.Tensor) -> None:
    there = "_to_copy.default [cuda:0] {dtype=float32 layout=strided device=cuda:0} -> [cuda:0]"
    assert list(_backward(x.requires_grad_().half().sum())) == [there]
    assert list(_backward(torch.ones(2, requires_grad=True).cuda().sum())) == [_TO_CPU]
    leaf = torch.ones(2, device="cuda", requires_grad=True)
    assert list(_backward(leaf.cpu().sum())) == [_TO_GPU]
    assert leaf.grad is not None and leaf.grad.device == torch.device("cuda:0")


def test_a_formula_of_backward_may_make_tensors_under_a_mode() -> None:
    values = torch.randn(3, 4, dtype=torch.float64)
    gradients = []
    for device in ("cpu", "cuda"):
        leaf = values.clone().to(device).requires_grad_()
        loss = torch.linalg.pinv(leaf).sum() + torch.nn.functional.pdist(leaf).prod() + leaf.cumprod(0).sum()
        with Notes() as mode:
            loss.backward()
        assert leaf.grad is not None
        gradients.append(leaf.grad.cpu())
    assert torch.allclose(*gradients)
    assert not [note for note in mode.notes if "cuda" in note and "[cpu" in note]


def test_debug_mode_writes_the_devices(x: torch.Tensor) -> None:
    with redirect_stderr(io.StringIO()), DebugMode(record_tensor_attributes=["device"]) as log:
        x.cpu()
        torch.zeros(4, device="cuda")
    assert [line.strip() for line in log.debug_string().splitlines()] == [
        "aten::_to_copy(t: f32[4]{device=cuda:0}, dtype=torch.float32, layout=torch.strided, device=cpu)"
        "  ->  t: f32[4]{device=cpu}",
        "aten::zeros([4], device=cuda, pin_memory=False)  ->  t: f32[4]{device=cuda:0}",
    ]


def test_flops_are_counted_where_a_module_moves() -> None:
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = torch.nn.Linear(2, 3).to("cuda:0"), torch.nn.Linear(3, 4).to("cuda:1")

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.second(self.first(x.to("cuda:0")).to("cuda:1"))  # type: ignore[no-any-return]

    model = Model()
    with FlopCounterMode(display=False) as counter:
        model(torch.ones(5, 2)).sum().backward()
    assert counter.get_total_flops() == 2 * 5 * (2 * 3 + 3 * 4) + 2 * 5 * 2 * 3 + 2 * 2 * 5 * 3 * 4
    with ModuleTracker() as tracker, Notes() as mode:
        model.second.register_forward_pre_hook(lambda *_: mode.notes.append(str(sorted(tracker.parents))))
        model(torch.ones(5, 2))
    assert "['Global', 'Model', 'Model.second']" in mode.notes


def test_a_copy_is_counted_once_under_a_mode(x: torch.Tensor) -> None:
    gc.collect()
    before = torch.cuda.memory_allocated()
    with Notes():
        kept = [torch.zeros(1000, device="cuda"), torch.zeros(1000).cuda()]
    assert torch.cuda.memory_allocated() - before == 2 * 4096
    del kept


def test_a_function_mode_is_told_a_factory_in_the_words_of_the_program(two_gpus: None) -> None:
    class Told(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            calls.append((func, args, kwargs))
            return func(*args, **(kwargs or {}))

    calls: list[Any] = []
    with Told():
        made = torch.zeros(2, device="cuda")
    assert calls == [(torch.zeros, (2,), {"device": "cuda"})]
    assert made.device == torch.device("cuda:0")
