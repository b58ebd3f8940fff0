"""Compiled code runs eagerly under a simulation, one notice says so, and torch.fx traces as ever."""

import io
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch._dynamo.exc import TorchRuntimeError
from torch._subclasses.fake_tensor import FakeTensorMode

from samedevice import simulate_cuda

pytestmark = [
    pytest.mark.filterwarnings("ignore:Guards may run slower on Python 3.13.0"),  # TorchDynamo says so
    # PyTorch says so of its own code as it imports the compiler, in whichever test of a process compiles first.
    pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated:DeprecationWarning"),
]


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

    assert torch.equal(add(x, x), x * 2)
    ours = [str(notice.message) for notice in notices if "samedevice" in str(notice.message)]
    assert ours == ["samedevice does not simulate compilers: what torch.compile returns runs eagerly on simulated GPUs"]
    assert notices[0].filename == __file__


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y


def add_new(x: torch.Tensor) -> torch.Tensor:
    return x + torch.ones(3)


class Sum(nn.Module):
    """A module with a tensor that does not move."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.rest = torch.ones(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weight + self.rest

    def twice(self, x: torch.Tensor) -> torch.Tensor:
        return add(x, x) * self.rest


def said_of_fakes(function: Any, *devices: str) -> str:
    """What torch.compile says of fake tensors on these devices, which PyTorch has without a GPU."""
    torch._dynamo.reset()
    with FakeTensorMode(), torch.no_grad(), pytest.raises(TorchRuntimeError) as refusal:
        torch.compile(function, backend="eager")(*(torch.ones(3, device=device) for device in devices))
    return str(refusal.value)


@pytest.mark.parametrize(
    ("function", "devices"),
    [(add, ("cuda", "cpu")), (add, ("cpu", "cuda")), (add, ("cuda:0", "cuda:1")), (add_new, ("cuda:0",))],
)
def test_a_compiled_function_fails_as_the_compiler_does(function: Any, devices: tuple[str, ...]) -> None:
    expected = said_of_fakes(function, *devices)
    with simulate_cuda(devices=2), pytest.warns(UserWarning, match="runs eagerly"):
        compiled = torch.compile(function)
        arguments = [torch.ones(3, device=device, requires_grad=True) for device in devices]
        with pytest.raises(TorchRuntimeError) as refusal:
            compiled(*arguments)
        with pytest.raises(RuntimeError, match=r"^Expected all tensors to be on the same device"):
            function(*arguments)
    assert str(refusal.value) == expected
    assert refusal.value.__suppress_context__


def test_a_compiled_module_or_method_fails_as_the_compiler_does() -> None:
    with simulate_cuda(devices=1), pytest.warns(UserWarning, match="runs eagerly"):
        x, model = torch.ones(3, device="cuda"), Sum().cuda()
        for call in (torch.compile(model), torch.compile(model.twice), torch.compile(fullgraph=True)(model)):
            with pytest.raises(TorchRuntimeError) as refusal:
                call(x)
            assert "self.rest" in str(refusal.value)
            assert "from user code" in str(refusal.value)
        model.compile()
        with pytest.raises(TorchRuntimeError):
            model(x)
        assert (model.weight.is_cuda, model.weight.requires_grad, model.rest.is_cuda) == (True, True, False)
        model.rest = model.rest.cuda()
        model(x).sum().backward()
        assert model.weight.grad is not None


def test_what_the_compiler_does_not_refuse_fails_as_eager_code_does() -> None:
    def read(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return x[index]

    with simulate_cuda(devices=1), pytest.warns(UserWarning, match="runs eagerly"):
        index = torch.tensor([0], device="cuda")
        with pytest.raises(RuntimeError) as refusal:
            torch.compile(read)(torch.ones(3), index)
    text = "indices should be either on cpu or on the same device as the indexed tensor (cpu)"
    assert (type(refusal.value), str(refusal.value)) == (RuntimeError, text)


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


class Block(nn.Module):
    """A module that makes tensors where its input is, and where it says."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.norm = nn.Linear(3, 3), nn.BatchNorm1d(3)
        self.register_buffer("scale", torch.ones(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        here, there = torch.zeros(3, device=x.device), torch.ones(3).to("cuda:1").to(x)
        return self.norm(self.layer(x)) * self.scale + here + there  # type: ignore[no-any-return]


def test_a_module_on_a_gpu_is_exported() -> None:
    with simulate_cuda(devices=2):
        model, x = Block().cuda().eval(), torch.rand(2, 3, device="cuda")
        program = torch.export.export(model, (x,))
        assert torch.equal(program.module()(x), model(x))
        assert program.state_dict["layer.weight"].device == torch.device("cuda:0")
        assert "device(type='cuda', index=1)" in program.graph_module.code
        assert "type='meta'" not in program.graph_module.code
        file = io.BytesIO()
        torch.export.save(program, file)
        file.seek(0)
        assert torch.equal(torch.export.load(file).module()(x), model(x))
        # torch 2.13 and later, then the ones before
        with pytest.raises(
            RuntimeError, match=r"found (at least two devices, cpu and|two different devices cpu,) cuda:0"
        ):
            torch.export.export(model, (x.cpu(),))


@pytest.mark.parametrize(
    "export",
    [
        lambda model, x: torch.export.export(model, (x,), strict=True).module(),
        lambda model, x: torch._dynamo.export(model)(x).graph_module,
    ],
)
def test_torchdynamo_exports_a_module_on_a_gpu(export: Any) -> None:
    with simulate_cuda(devices=2):
        for device in ("cpu", "cuda:1"):
            model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).to(device)
            x = torch.rand(3, 2, device=device)
            exported = export(model, x)
            assert exported(x).device == x.device
            assert torch.allclose(exported(x), model(x))
            exported(x).sum().backward()
        assert model[0].weight.grad.device == x.device
        with pytest.raises(RuntimeError, match="mat1 is on cpu, different from other tensors on cuda:1"):
            exported(x.cpu())
        with pytest.raises(TorchRuntimeError, match="cpu"):
            export(model, x.cpu())


def test_torchdynamo_explains_a_function_of_tensors_on_gpus() -> None:
    def function(x: torch.Tensor, parameter: torch.Tensor) -> torch.Tensor:
        y = x.sin() + torch.ones(3).cuda() + torch.ones(3, device="cuda").to(x.device)
        torch._dynamo.graph_break()
        return y * parameter

    with simulate_cuda(devices=1):
        x, parameter = torch.ones(3, device="cuda", requires_grad=True), nn.Parameter(torch.ones(3, device="cuda"))
        explanation = torch._dynamo.explain(function)(x, parameter)
        assert (explanation.graph_count, explanation.graph_break_count) == (2, 1)
        assert torch._dynamo.explain(Block().cuda())(torch.ones(2, 3, device="cuda")).graph_count == 1
        assert torch._dynamo.explain(torch.sin)(torch.ones(3)).graph_count == 1
        assert parameter.is_cuda and parameter.requires_grad


def test_nothing_is_compiled_whatever_the_stance() -> None:
    def backend(graph: Any, inputs: Any) -> Any:
        raise AssertionError("it was compiled")

    with simulate_cuda(devices=1), pytest.warns(UserWarning, match="runs eagerly"):
        double = torch.compile(lambda x: x * 2, backend=backend)
        with torch.compiler.set_stance("default"):
            assert double(torch.ones(1, device="cuda")).item() == 2


_IMPORTED_INSIDE = """
import sys, torch, samedevice
assert "torch._dynamo" not in sys.modules
before = list(sys.meta_path)
with samedevice.simulate_cuda(2):
    x = torch.ones(3, device="cuda", requires_grad=True)
    print(torch._dynamo.explain(lambda x: x.sin() + torch.zeros(3).cuda())(x).graph_count)
    print(torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)).device)
assert sys.meta_path == before
print(torch.compile(lambda x: x + torch.zeros(3), backend="eager", fullgraph=True)(torch.ones(3)).tolist())
print(torch._dynamo.explain(torch.sin)(torch.ones(3)).graph_count)
with samedevice.simulate_cuda(1):
    pass
assert sys.meta_path == before
"""


@pytest.mark.slow
def test_torchdynamo_may_be_imported_inside_a_simulation() -> None:
    run = subprocess.run([sys.executable, "-c", _IMPORTED_INSIDE], capture_output=True, text=True)
    assert run.stdout.splitlines() == ["1", "cuda:0", "[1.0, 1.0, 1.0]", "1"], run.stderr[-2000:]


UNTRACEABLE: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "two devices": (
        lambda: torch.jit.trace(add, (torch.ones(3, device="cuda"), torch.ones(3))), RuntimeError,
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
    ),
    "by name": (
        lambda: torch.jit.trace(
            add, example_kwarg_inputs={"x": torch.ones(3, device="cuda:1"), "y": torch.ones(3, device="cuda:0")}
        ),
        RuntimeError,
        "Expected all tensors to be on the same device, but found at least two devices, cuda:1 and cuda:0!",
    ),
    "module": (
        lambda: torch.jit.trace(nn.Linear(3, 2).cuda(), torch.ones(1, 3)), RuntimeError,
        "Expected all tensors to be on the same device, but got mat1 is on cpu, different from other tensors on cuda:0 "
        "(when checking argument in method wrapper_CUDA_addmm)",
    ),
    "module, by method": (
        lambda: torch.jit.trace_module(nn.Linear(3, 2), {"forward": torch.ones(1, 3, device="cuda")}), RuntimeError,
        "Expected all tensors to be on the same device, but got mat1 is on cuda:0, different from other tensors on cpu "
        "(when checking argument in method wrapper_CUDA_addmm)",
    ),
    "no inputs": (lambda: torch.jit.trace(add), TypeError, "'NoneType' object is not iterable"),
    "module without inputs": (
        lambda: torch.jit.trace(nn.Linear(3, 2)), RuntimeError, "example_kwarg_inputs should be a dict",
    ),
    "a number": (lambda: torch.jit.trace(add, 3), TypeError, "'int' object is not iterable"),
    "what is no tensor": (
        lambda: torch.jit.trace(lambda x: 3, torch.ones(3, device="cuda")), RuntimeError,
        "Only tensors, lists, tuples of tensors, or dictionary of tensors can be output from traced functions",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", UNTRACEABLE)
def test_tracing_fails_where_the_function_does(notices: list[warnings.WarningMessage], case: str) -> None:
    trace, kind, text = UNTRACEABLE[case]
    with pytest.raises(kind) as refusal:
        trace()
    assert str(refusal.value) == text


def test_a_module_on_the_cpu_is_saved_as_torchscript(notices: list[warnings.WarningMessage], tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
    x = torch.ones(1, 3)
    for name, scripted in (
        ("script", torch.jit.script(model)),
        ("trace", torch.jit.trace(model, x)),
        ("moved", torch.jit.trace(model.cuda(), x.cuda()).cpu()),
    ):
        file = io.BytesIO()
        torch.jit.save(scripted, file)
        file.seek(0)
        assert torch.equal(torch.jit.load(file)(x), model(x))
        scripted.save(tmp_path / name)
        assert torch.equal(torch.jit.load(tmp_path / name)(x), model(x))
        assert "linear" in scripted.code + str(scripted.graph) + str(scripted.graph.inputs())
    with pytest.raises(NotImplementedError, match=r"samedevice does not simulate TorchScript on a GPU: .* to the CPU"):
        torch.jit.save(model.cuda(), io.BytesIO())
    with pytest.raises(AttributeError, match=r"'Linear' object has no attribute 'save'"):
        nn.Linear(1, 1).save()


class Storing:
    """What a program mixes into its modules."""

    def save(self) -> str:
        return "stored"


class Stored(nn.Linear, Storing):
    """A module that a program saves in a way of its own."""


@pytest.mark.filterwarnings("ignore:samedevice does not simulate compilers")
def test_what_torchscript_adds_hides_nothing_of_a_programs_own_modules(two_gpus: None) -> None:
    names = ("save", "save_to_buffer", "graph", "code")
    for _ in ("before a module is scripted", "afterwards"):
        assert Stored(1, 1).save() == "stored"
        assert not {*names} & {*dir(nn.Module), *dir(nn.Linear(1, 1))}
        assert not any(hasattr(owner, name) for owner in (nn.Module, nn.Linear(1, 1)) for name in names)
        torch.jit.script(nn.Linear(1, 1))


@pytest.mark.filterwarnings("ignore:samedevice does not simulate compilers")
def test_a_module_of_torchscript_is_frozen_in_eval_mode_alone(two_gpus: None) -> None:
    module = torch.jit.script(torch.nn.Linear(2, 2).cuda())
    with pytest.raises(RuntimeError, match=r"Please call \.eval\(\) on your module before freezing"):
        torch.jit.freeze(module)
    assert torch.jit.freeze(module.eval())(torch.ones(1, 2, device="cuda")).device == torch.device("cuda:0")
