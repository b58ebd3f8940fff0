"""Compiled code runs eagerly under a simulation, one notice says so, and torch.fx traces as ever."""

import warnings
from collections.abc import Iterator

import pytest
import torch
from torch import nn

from samedevice import simulate_cuda


@pytest.fixture
def notices() -> Iterator[list[warnings.WarningMessage]]:
    with warnings.catch_warnings(record=True) as seen, simulate_cuda(devices=2):
        warnings.simplefilter("always")
        yield seen


def test_what_was_compiled_can_be_forgotten(notices: list[warnings.WarningMessage]) -> None:
    torch.compile(nn.Linear(2, 2))(torch.ones(1, 2))
    torch.compiler.reset()
    torch.compiler.cudagraph_mark_step_begin()


def test_torch_compile_runs_eagerly_with_one_notice(notices: list[warnings.WarningMessage]) -> None:
    model, x = nn.Linear(2, 2).cuda(), torch.ones(1, 2, device="cuda")
    compiled = torch.compile(model)
    assert torch.equal(compiled(x), model(x))
    assert compiled._orig_mod is model
    model.compile()
    model(x).sum().backward()
    assert str(model.weight.grad.device) == "cuda:0"

    @torch.compile(fullgraph=True)
    def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y

    with pytest.raises(RuntimeError) as refusal:
        add(x, x.cpu())
    assert str(refusal.value) == (
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
    )
    ours = [str(notice.message) for notice in notices if "samedevice" in str(notice.message)]
    assert ours == ["samedevice does not simulate compilers: what torch.compile returns runs eagerly on simulated GPUs"]
    assert notices[0].filename == __file__


def test_what_is_compiled_in_a_simulation_compiles_when_it_has_ended() -> None:
    compiled = []

    def backend(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> torch.fx.GraphModule:
        compiled.append(graph)
        return graph

    with simulate_cuda(devices=1), pytest.warns(UserWarning, match="runs eagerly"):
        double = torch.compile(lambda x: x * 2, backend=backend)
        assert double(torch.ones(1, device="cuda")).item() == 2
    assert not compiled
    assert double(torch.ones(1)).item() == 2
    assert len(compiled) == 1
    with simulate_cuda(devices=1):
        assert double(torch.ones(3, device="cuda")).tolist() == [2, 2, 2]
    assert len(compiled) == 1


def test_torchscript_runs_eagerly_with_the_same_notice(notices: list[warnings.WarningMessage]) -> None:
    @torch.jit.script
    def zeros_like_and_more(x: torch.Tensor) -> torch.Tensor:
        return torch.zeros(2, device=x.device) + x

    x = torch.ones(2, device="cuda:1")
    assert str(zeros_like_and_more(x).device) == "cuda:1"
    assert str(torch.jit.trace(lambda x: torch.zeros(2, device=x.device), (x,))(x).device) == "cuda:1"
    layer = torch.nn.Linear(2, 2)
    assert torch.jit.trace_module(layer, {"forward": torch.ones(1, 2)}) is layer
    assert torch.func.jvp(torch.sin, (x,), (x,))[1].is_cuda  # PyTorch scripts its decompositions here
    assert len([n for n in notices if "samedevice" in str(n.message)]) == 1


def _of_pytorch(x: torch.Tensor) -> torch.Tensor:
    return torch.zeros_like(x, memory_format=torch.preserve_format) + torch.ones(2)


def test_pytorchs_own_torchscript_is_compiled_with_the_functions_that_are_replaced(
    notices: list[warnings.WarningMessage],
) -> None:
    _of_pytorch.__module__ = "torch.distributed.optim"  # whose import compiles functions like this one
    assert torch.jit.script(_of_pytorch)(torch.zeros(2)).tolist() == [1, 1]
    assert not [n for n in notices if "samedevice" in str(n.message)]


class Moves(nn.Module):
    """A module with a device among its constants."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.to(torch.device("cuda:1")) * 2


def test_torch_fx_traces_and_runs_modules_that_name_a_device() -> None:
    with simulate_cuda(devices=2):
        traced = torch.fx.symbolic_trace(Moves())
        assert str(traced(torch.ones(1)).device) == "cuda:1"
    assert "device(type='cuda', index=1)" in traced.code
    assert torch.fx.symbolic_trace(nn.Linear(1, 1))(torch.ones(1, 1)).shape == (1, 1)


def test_torch_export_of_a_module_on_a_gpu_is_refused_and_of_one_on_the_cpu_works() -> None:
    with simulate_cuda(devices=1):
        model, x = nn.Linear(2, 2), torch.ones(1, 2)
        with pytest.raises(NotImplementedError, match=r"samedevice does not simulate torch.export: .* to the CPU"):
            torch.export.export(model.cuda(), (x.cuda(),))
