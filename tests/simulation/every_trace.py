"""Fake tensors, tracing, exporting and higher-order operators, each with each kind of tensor on a simulated GPU.

Each way to trace runs in a child, since what ends Python would end this program too. It prints the name of each before
it runs, a line that begins with "raised: " where it raises, and one with "ended: " where it ended the child.
"""

import copy
import importlib
import io
import os
import sys
import traceback
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import torch
from functorch.compile import aot_function, aot_module, make_boxed_func, min_cut_rematerialization_partition
from torch import nn
from torch._functorch.aot_autograd import aot_export_joint_simple
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch._subclasses.meta_utils import MetaConverter
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.fx.passes.shape_prop import ShapeProp
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.utils._pytree import tree_leaves
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

from samedevice import simulate_cuda

Function = Callable[..., Any]

# What there is to trace: a function, and what it is given.
SUBJECTS: dict[str, Callable[[str], tuple[Function, torch.Tensor]]] = {
    "tensor": lambda device: (_several, torch.rand(3, 3, device=device)),
    "leaf": lambda device: (_several, torch.rand(3, 3, device=device, requires_grad=True)),
    "parameter": lambda device: (_several, nn.Parameter(torch.rand(3, 3, device=device))),
    "view": lambda device: (_several, torch.rand(4, 3, device=device, requires_grad=True)[1:]),
    "module": lambda device: (_Block().to(device), torch.rand(3, 3, device=device)),
}


def _several(x: torch.Tensor) -> torch.Tensor:
    """Views, a factory and formulas whose derivatives make tensors of their own."""
    return x[0:2].cumsum(0).sum(0) + x.prod(0) + x.unbind(0)[1] * torch.ones(3, device=x.device) + x.std()


class _Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear, self.norm, self.dropout = nn.Linear(3, 3), nn.LayerNorm(3), nn.Dropout(0.1)
        self.register_buffer("scale", torch.ones(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.dropout(self.norm(self.linear(x))) * self.scale + torch.zeros_like(x)  # type: ignore[no-any-return]


def _backward(result: Any) -> None:
    losses = [x.sum() for x in tree_leaves(result) if isinstance(x, torch.Tensor) and x.requires_grad]
    if losses:
        sum(losses).backward(retain_graph=True)


def _fake(mode: FakeTensorMode, function: Function, x: torch.Tensor) -> None:
    fake = mode.from_tensor(x)
    assert fake.device == x.device
    with mode:
        result = function(fake)
        assert result.device == x.device
        _backward(result)
        if fake.grad is not None:
            assert fake.grad.device == x.device
    repr(fake), repr(result)


def _fake_copies(function: Function, x: torch.Tensor) -> None:
    fake = FakeTensorMode(allow_non_fake_inputs=True).from_tensor(x)
    result = FakeTensorMode(allow_non_fake_inputs=True).from_tensor(x.detach().requires_grad_() * 2)
    assert result.requires_grad and not result.is_leaf
    for copied in (copy.copy(fake), fake.detach().requires_grad_(), fake.to("meta"), fake.cpu()):
        repr(copied)
    if fake.is_leaf:
        assert copy.deepcopy(fake).device == x.device


def _made_fake(function: Function, x: torch.Tensor) -> None:
    with FakeTensorMode(allow_non_fake_inputs=True):
        fake = torch.rand(3, 3, device=x.device, requires_grad=True)
        module = nn.Linear(3, 3, device=x.device)
        _backward(module(function(fake).expand(3, 3)))
        optimizer = torch.optim.AdamW(module.parameters())
        optimizer.step()
        optimizer.zero_grad()
        nn.utils.clip_grad_norm_(module.parameters(), 1.0)


def _made_by_hand(function: Function, x: torch.Tensor) -> None:
    fake = FakeTensor(FakeTensorMode(), torch.empty(3, 3, device="meta", requires_grad=x.requires_grad), x.device)
    _backward(fake * 2)
    assert fake.device == x.device


def _with_grad_hooks(function: Function, x: torch.Tensor) -> None:
    with FakeTensorMode() as mode:
        fake = torch.ones(3, 3, device=x.device, requires_grad=True)
        fake.register_hook(lambda gradient: gradient * 2)
        fake.register_post_accumulate_grad_hook(lambda tensor: None)
        _backward(_Double.apply(fake))
        with torch.autograd.graph.save_on_cpu():
            _backward(fake * fake)
        assert mode is fake.fake_mode


class _Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient * torch.full_like(ctx.saved_tensors[0], 2.0)


def _fake_transforms(function: Function, x: torch.Tensor) -> None:
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    fake = mode.from_tensor(x.detach())
    with mode:
        torch.func.grad(lambda x: function(x).sum())(fake)
        torch.func.jacrev(function)(fake), torch.func.jacfwd(torch.sin)(fake)
        torch.func.vmap(torch.sin)(fake), torch.func.jvp(torch.sin, (fake,), (fake,))
        torch.func.hessian(lambda x: x.sin().sum())(fake)


def _transforms(function: Function, x: torch.Tensor) -> None:
    for transform in (
        torch.func.grad(lambda x: function(x).sum()), torch.func.functionalize(function), torch.func.vmap(torch.sin),
    ):  # fmt: skip
        for tracing_mode in ("real", "fake", "symbolic"):
            graph = make_fx(transform, tracing_mode=tracing_mode, _allow_non_fake_inputs=True)(x.detach())
            assert graph(x.detach()).device == x.device


def _made_fx(tracing_mode: str) -> Callable[[Function, torch.Tensor], None]:
    def trace(function: Function, x: torch.Tensor) -> None:
        graph = make_fx(function, tracing_mode=tracing_mode, _allow_non_fake_inputs=True)(x)
        _backward(graph(x))
        assert graph(x).device == x.device
        assert "type='meta'" not in graph.code
        leaf = x.detach().requires_grad_()
        made = make_fx(
            lambda x: torch.autograd.grad(function(x).sum(), x), tracing_mode=tracing_mode, _allow_non_fake_inputs=True
        )(leaf)
        assert made(leaf)[0].device == x.device
        assert "type='meta'" not in made.code

    return trace


def _aot(**options: Any) -> Callable[[Function, torch.Tensor], None]:
    def trace(function: Function, x: torch.Tensor) -> None:
        codes: list[str] = []

        def compiler(graph: Any, inputs: Any) -> Any:
            codes.append(graph.code)
            return make_boxed_func(graph.forward)

        trace = aot_module if isinstance(function, nn.Module) else aot_function
        result = trace(function, fw_compiler=compiler, **options)(x)
        assert result.device == x.device
        _backward(result)
        assert "type='meta'" not in "".join(codes)

    return trace


def _exported(function: Function, x: torch.Tensor) -> None:
    class Calls(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = function if isinstance(function, nn.Module) else nn.Identity()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.inner(x) if isinstance(function, nn.Module) else function(x)  # type: ignore[no-any-return]

    program = torch.export.export(Calls(), (x,))
    _backward(program.module()(x))
    assert program.run_decompositions().module()(x).device == x.device
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    assert torch.export.load(file).module()(x).device == x.device


def _strictly_exported(function: Function, x: torch.Tensor) -> None:
    torch.export.export(nn.Sequential(nn.Linear(3, 3)).to(x.device), (x,), strict=True)


def _pipelined(function: Function, x: torch.Tensor) -> None:
    from torch.distributed.pipelining import SplitPoint, pipeline

    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)).to(x.device)
    assert pipeline(model, (x.detach(),), split_spec={"1": SplitPoint.BEGINNING}).num_stages == 2


def _compiled(backend: str, stance: str = "") -> Callable[[Function, torch.Tensor], None]:
    def trace(function: Function, x: torch.Tensor) -> None:
        with torch.compiler.set_stance(stance) if stance else nullcontext():
            result = torch.compile(function, backend=backend)(x)
            assert result.device == x.device
            _backward(result)

    return trace


def _compiled_autograd(function: Function, x: torch.Tensor) -> None:
    with torch._dynamo.compiled_autograd._enable(torch.compile(backend="eager")):
        _backward(function(x))


def _conditional(function: Function, x: torch.Tensor) -> None:
    def choose(x: torch.Tensor) -> Any:
        return torch.cond(x.sum() > 0, function, lambda x: function(x) * 2, (x,))

    _backward(choose(x))
    _backward(torch.compile(choose, backend="eager")(x))
    assert torch.func.vmap(lambda x: torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)))(x.detach()).device == x.device
    if isinstance(function, nn.Module):
        for parameter in function.parameters():
            assert parameter.grad is not None and parameter.grad.device == x.device


def _looped(function: Function, x: torch.Tensor) -> None:
    start = torch.zeros((), dtype=torch.long, device=x.device)
    torch._higher_order_ops.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x.sin()), (start, x.detach()))


def _mapped(function: Function, x: torch.Tensor) -> None:
    _backward(torch._higher_order_ops.map(lambda row, y: row * y, x, x[0]))


def _scanned(function: Function, x: torch.Tensor) -> None:
    _backward(torch._higher_order_ops.scan(lambda carry, row: (carry + row, carry * row), x[0] * 1, x))


def _associatively_scanned(function: Function, x: torch.Tensor) -> None:
    _backward(torch._higher_order_ops.associative_scan(torch.add, x, 0, combine_mode="generic"))


def _attention(function: Function, x: torch.Tensor) -> None:
    heads = x.expand(1, 2, 3, 3)
    bias = nn.Parameter(torch.zeros(2, device=x.device))
    mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, 3, 3, device=str(x.device))
    result = flex_attention(heads, heads, heads, lambda score, b, h, i, j: score + bias[h], mask)
    assert result.device == x.device
    _backward(result)
    assert bias.grad is not None and bias.grad.device == x.device
    _backward(torch.compile(flex_attention)(heads, heads, heads))


def _wrapped(function: Function, x: torch.Tensor) -> None:
    from torch._higher_order_ops.strict_mode import strict_mode
    from torch._higher_order_ops.wrap import wrap

    _backward(wrap(function, x))
    _backward(torch.compiler.nested_compile_region(function)(x))
    strict_mode(lambda x: x.sin(), (x,))
    torch._higher_order_ops.foreach_map(torch.add, [x], [x])


def _custom_operator(function: Function, x: torch.Tensor) -> None:
    @torch.library.custom_op("every_trace::double", mutates_args=())
    def double(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    double.register_fake(torch.empty_like)
    double.register_autograd(lambda ctx, gradient: gradient * 2)
    _backward(double(x))
    _fake(FakeTensorMode(allow_non_fake_inputs=True), double, x)
    _aot()(double, x)


def _propagated(function: Function, x: torch.Tensor) -> None:
    model = torch.fx.symbolic_trace(nn.Linear(3, 3)).to(x.device)
    ShapeProp(model, fake_mode=FakeTensorMode(allow_non_fake_inputs=True)).propagate(x)


def _checkpointed(function: Function, x: torch.Tensor) -> None:
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    fake = mode.from_tensor(x)
    with mode, FlopCounterMode(display=False):
        _backward(checkpoint(function, fake, use_reentrant=False))
        _backward(checkpoint(function, fake, use_reentrant=True))


def _called_with_fake_parameters(function: Function, x: torch.Tensor) -> None:
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    model = nn.Linear(3, 3).to(x.device)
    parameters = {name: mode.from_tensor(parameter) for name, parameter in model.named_parameters()}
    with mode:
        _backward(torch.func.functional_call(model, parameters, mode.from_tensor(x)))
    assert parameters["weight"].grad.device == x.device


WAYS: dict[str, Callable[[Function, torch.Tensor], Any]] = {
    "from_tensor": lambda function, x: _fake(FakeTensorMode(allow_non_fake_inputs=True), function, x),
    "from_tensor, symbolic": lambda function, x: _fake(
        FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv()), function, x
    ),
    "copies of a fake tensor": _fake_copies,
    "made under FakeTensorMode": _made_fake,
    "FakeTensor()": _made_by_hand,
    "hooks and a Function of a fake tensor": _with_grad_hooks,
    "torch.func of a fake tensor": _fake_transforms,
    "fake parameters": _called_with_fake_parameters,
    "checkpoint of fake tensors": _checkpointed,
    "real tensors under FakeTensorMode": lambda function, x: _under(FakeTensorMode(), function, x),
    "MetaConverter": lambda function, x: MetaConverter()(x),
    "make_fx, real": _made_fx("real"),
    "make_fx, fake": _made_fx("fake"),
    "make_fx, symbolic": _made_fx("symbolic"),
    "make_fx of torch.func": _transforms,
    "ShapeProp": _propagated,
    "aot_function": _aot(),
    "aot_function, partitioned": _aot(partition_fn=min_cut_rematerialization_partition),
    "aot_export_joint_simple": lambda function, x: aot_export_joint_simple(
        lambda x: (x.sin(),), (x.detach().requires_grad_(),), trace_joint=True
    ),
    "torch.export": _exported,
    "torch.export, strict": _strictly_exported,
    "draft_export": lambda function, x: torch.export.draft_export(nn.Linear(3, 3).to(x.device), (x,)),
    "pipeline": _pipelined,
    "torch.compile, eager": _compiled("eager"),
    "torch.compile, aot_eager": _compiled("aot_eager"),
    "torch.compile, stance": _compiled("aot_eager", "default"),
    "compiled autograd": _compiled_autograd,
    "explain": lambda function, x: torch._dynamo.explain(function)(x).graph_count,
    "torch._dynamo.export": lambda function, x: torch._dynamo.export(function)(x),
    "cond": _conditional,
    "while_loop": _looped,
    "map": _mapped,
    "scan": _scanned,
    "associative_scan": _associatively_scanned,
    "flex_attention": _attention,
    "other higher-order operators": _wrapped,
    "custom operator": _custom_operator,
}


def _under(mode: Any, function: Function, x: torch.Tensor) -> None:
    with mode:
        _backward(function(x))


def run(way: str, told: Any) -> None:
    """Try one way with each subject, and tell what happens: a line before each, and one if it raises."""
    for subject, made in SUBJECTS.items():
        print(f"{way}, {subject}", file=told, flush=True)
        try:
            torch.manual_seed(0)
            torch._dynamo.reset()
            WAYS[way](*made("cuda"))
        except Exception as error:
            print(f"raised: {way}, {subject}: {type(error).__name__}: {error}", file=told, flush=True)
            traceback.print_exc()


def main() -> None:
    warnings.simplefilter("ignore")
    importlib.import_module("torch._dynamo")  # once, not in each child
    for way in sys.argv[1:] or WAYS:
        sys.stdout.flush()
        child = os.fork()
        if not child:
            with simulate_cuda(devices=1):
                run(way, sys.stdout)
            sys.stdout.flush()
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code:
            print(f"ended: {way}: {code}", flush=True)


if __name__ == "__main__":
    main()
