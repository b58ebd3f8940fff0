"""torch.cuda.set_sync_debug_mode: it warns, or raises, where the CPU waits for a GPU. Recorded from PyTorch 2.13.0."""

import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from samedevice import simulate_cuda
from samedevice.simulation.device import sync_debug

_TEXT = "called a synchronizing CUDA operation"

_WAIT = (
    "g[0].item()", "g[0].tolist()", "g.tolist()", "bool(g[0])", "float(g[0])", "g.cpu()", "g.numpy(force=True)",
    "g.to('cpu')", "g.type('torch.FloatTensor')", "c.to('cuda')", "c.cuda()", "c.pin_memory().to('cuda')", "c.copy_(g)",
    "g.copy_(c)", "torch.tensor([1.], device='cuda')", "torch.as_tensor(c, device='cuda')", "g.new_tensor([1.])",
    "torch.nn.Linear(2, 2).cuda()", "g.nonzero()", "g[b]", "g[torch.tensor([0])]", "g.masked_select(b)",
    "torch.where(b)", "g.unique()", "torch.allclose(g, g)", "torch.equal(g, g + 1)", "torch.is_nonzero(g[0])",
    "g.masked_fill_(b, g[0])", "g.index_fill_(0, i, g[0])", "torch.linspace(g[0], g[1], 3, device='cuda')",
    "g.__setitem__(0, c[0])", "g.__setitem__(i, c[0])", "g.__setitem__(i, c[:1])", "w.cpu().sum().backward()",
    "torch.cuda.current_stream().synchronize()", "torch.accelerator.current_stream().synchronize()",
    "g.untyped_storage().cpu()",
)  # fmt: skip
_DO_NOT = (
    "g.to('cpu', non_blocking=True)", "c.to('cuda', non_blocking=True)", "c.cuda(non_blocking=True)",
    "c.copy_(g, non_blocking=True)", "g.copy_(c, non_blocking=True)", "g.to('cuda:1')", "torch.zeros(2, device='cuda')",
    "torch.zeros(0).cuda()", "torch.tensor([], device='cuda')", "g.clone()", "g[i]",
    "g[torch.tensor([True, False, True, True])]", "g.__setitem__(b, 1.)", "g.masked_fill(b, 1.)",
    "torch.where(b, g, g)", "torch.equal(g, g)", "g.max()", "g + c[0]", "g.fill_(g[0])",
    "torch.repeat_interleave(g, 2)", "w.sum().backward()", "torch.randperm(4, device='cuda')",
    "torch.cuda.synchronize()", "torch.cuda.Event().synchronize()",
)  # fmt: skip
# From torch 2.15 on, a number is passed on as it is; before, as a tensor of the CPU, which is copied.
_WITH_A_NUMBER = ("g.__setitem__(0, 1.)", "g.__setitem__(i, 1.)")
if torch.__version__ >= "2.15":
    _DO_NOT += _WITH_A_NUMBER
else:
    _WAIT += _WITH_A_NUMBER


@pytest.fixture
def names() -> Iterator[dict[str, Any]]:
    with simulate_cuda(devices=2):
        g, c = torch.ones(4, device="cuda"), torch.ones(4)
        w = torch.ones(4, device="cuda", requires_grad=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.cuda.set_sync_debug_mode("default")
        yield {"g": g, "c": c, "w": w, "b": g > 0, "i": torch.zeros(1, dtype=torch.long, device="cuda"), "torch": torch}


@pytest.mark.parametrize("text", _WAIT)
def test_where_the_cpu_waits_it_raises(text: str, names: dict[str, Any]) -> None:
    eval(text, names)
    torch.cuda.set_sync_debug_mode("error")
    with pytest.raises(RuntimeError) as error:
        eval(text, names)
    assert str(error.value) == _TEXT


@pytest.mark.parametrize("text", _DO_NOT)
def test_where_it_does_not_wait_nothing_is_said(text: str, names: dict[str, Any]) -> None:
    torch.cuda.set_sync_debug_mode("error")
    eval(text, names)


def test_a_warning_names_the_line(names: dict[str, Any]) -> None:
    torch.cuda.set_sync_debug_mode("warn")
    assert torch.cuda.get_sync_debug_mode() == 1
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        names["g"].cpu()
        names["g"][0].item()
        torch.nn.Linear(1, 1, bias=False).cuda()
    assert [str(warning.message) for warning in told] == [_TEXT] * 3
    assert [warning.filename.rpartition("/")[2] for warning in told] == [
        "test_sync_debug.py",
        "test_sync_debug.py",
        "module.py",
    ]


def test_values_that_are_no_level_are_refused(names: dict[str, Any]) -> None:
    for value, text in (
        (3, "invalid value of debug_mode, expected one of 0,1,2"),
        (-1, "invalid value of debug_mode, expected one of 0,1,2"),
        ("x", "invalid value of debug_mode, expected one of `default`, `warn`, `error`"),
        (True, "invalid argument to set_sync_debug_mode"),
        (1.5, "invalid argument to set_sync_debug_mode"),
    ):
        with pytest.raises(RuntimeError) as error:
            torch.cuda.set_sync_debug_mode(value)  # type: ignore[arg-type]
        assert str(error.value) == text
    assert torch.cuda.get_sync_debug_mode() == 0


def test_the_first_call_of_a_process_warns(monkeypatch: pytest.MonkeyPatch, two_gpus: None) -> None:
    monkeypatch.setattr(sync_debug, "_told", False)
    with pytest.warns(UserWarning) as told:
        torch.cuda.set_sync_debug_mode("error")
    assert str(told[0].message) == (
        "Synchronization debug mode is a prototype feature and does not yet detect all synchronizing operations"
    )
    assert told[0].filename == torch.cuda.__file__
    torch.cuda.set_sync_debug_mode("error")


def test_the_next_simulation_begins_without_it(names: dict[str, Any]) -> None:
    torch.cuda.set_sync_debug_mode("error")
    torch.cuda.set_sync_debug_mode(0)
    assert names["g"].cpu().tolist() == [1.0] * 4


def test_it_ends_with_the_simulation() -> None:
    with simulate_cuda(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.cuda.set_sync_debug_mode("error")
    with simulate_cuda():
        assert torch.cuda.get_sync_debug_mode() == 0
        assert torch.ones(1, device="cuda").item() == 1
