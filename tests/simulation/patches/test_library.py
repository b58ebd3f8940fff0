"""Operators of torch.library: a kernel for CUDA computes what is on a GPU, and one for the CPU what is on the CPU."""

import gc
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode

from samedevice import simulate_cuda

Told = list[Any]


@pytest.fixture(autouse=True)
def simulation(request: pytest.FixtureRequest) -> Iterator[None]:
    if "before" in request.node.name:
        yield
    else:
        with simulate_cuda(2):
            yield


@pytest.fixture
def library() -> Iterator[torch.library.Library]:
    """A library with `sdtest::f`, which has no kernel yet."""
    library = torch.library.Library("sdtest", "DEF")
    library.define("f(Tensor x) -> Tensor")
    yield library
    library._destroy()


@pytest.fixture
def aten() -> Iterator[torch.library.Library]:
    """A library that overrides PyTorch's operators."""
    library = torch.library.Library("aten", "IMPL")
    yield library
    library._destroy()


def refused(name: str, backend: str) -> str:
    return f"Could not run '{name}' with arguments from the '{backend}' backend. This could be because the operator "


def one_for(device_types: Any, told: Told) -> Any:
    """A custom operator that notes where its tensor is."""

    @torch.library.custom_op("sdtest::one", mutates_args=(), device_types=device_types)  # type: ignore[untyped-decorator]
    def one(x: torch.Tensor) -> torch.Tensor:
        told.append((str(x.device), x.is_cuda, x.get_device()))
        return x + 1

    return one


def test_a_kernel_for_cuda_runs_on_the_gpu_and_not_on_the_cpu() -> None:
    told: Told = []
    one = one_for("cuda", told)
    result = one(torch.ones(2, device="cuda:1"))
    assert str(result.device) == "cuda:1" and result.tolist() == [2, 2]
    assert told == [("cuda:1", True, 1)]
    with pytest.raises(NotImplementedError) as caught:
        one(torch.ones(2))
    assert str(caught.value).startswith(refused("sdtest::one", "CPU"))


def test_a_kernel_for_the_cpu_is_refused_on_a_gpu_with_the_words_of_cuda() -> None:
    told: Told = []
    one = one_for("cpu", told)
    assert one(torch.ones(2)).tolist() == [2, 2]
    with pytest.raises(NotImplementedError) as caught:
        one(torch.ones(2, device="cuda"))
    assert str(caught.value).startswith(refused("sdtest::one", "CUDA"))
    assert told == [("cpu", False, -1)]


def test_each_device_gets_its_kernel_and_any_other_the_default_one() -> None:
    told: Told = []
    one = one_for(None, told)
    one.register_kernel("cuda", lambda x: x * 10)
    assert one(torch.ones(2, device="cuda")).tolist() == [10, 10]
    assert one(torch.ones(2)).tolist() == [2, 2]
    with one.set_kernel_enabled("cuda", enabled=False):
        assert one(torch.ones(2, device="cuda")).tolist() == [2, 2]
    assert [device for device, *_ in told] == ["cpu", "cuda:0"]


def test_what_a_kernel_returns_is_where_the_kernel_made_it() -> None:
    @torch.library.custom_op("sdtest::two", mutates_args=())  # type: ignore[untyped-decorator]
    def two(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return x + 1, x.cpu(), x.to("cuda:1") * 2

    assert [str(x.device) for x in two(torch.ones(2, device="cuda"))] == ["cuda:0", "cpu", "cuda:1"]


def test_tensors_on_several_devices_come_to_the_kernel() -> None:
    @torch.library.custom_op("sdtest::mixed", mutates_args=())  # type: ignore[untyped-decorator]
    def mixed(x: torch.Tensor, others: list[torch.Tensor]) -> torch.Tensor:
        assert [str(y.device) for y in others] == ["cpu", "cuda:1"]
        return x + sum(y.to(x.device) for y in others)

    others = [torch.ones(2), torch.ones(2, device="cuda:1")]
    assert str(mixed(torch.ones(2, device="cuda"), others).device) == "cuda:0"
    assert mixed(torch.ones(2), others).tolist() == [3, 3]


def test_of_tensors_on_several_devices_cuda_decides_which_kernel_it_is(library: torch.library.Library) -> None:
    library.define("g(Tensor x, Tensor y) -> Tensor")
    library.impl("g", lambda x, y: x + y, "CPU")
    with pytest.raises(NotImplementedError) as caught:
        torch.ops.sdtest.g(torch.ones(2), torch.ones(2, device="cuda"))
    assert str(caught.value).startswith(refused("sdtest::g", "CUDA"))
    library.impl("g", lambda x, y: x + y, "CUDA")
    with pytest.raises(RuntimeError, match="found at least two devices, cuda:0 and cpu!"):
        torch.ops.sdtest.g(torch.ones(2), torch.ones(2, device="cuda"))


def test_a_kernel_that_mixes_devices_is_refused_where_it_does() -> None:
    @torch.library.custom_op("sdtest::wrong", mutates_args=(), device_types="cuda")  # type: ignore[untyped-decorator]
    def wrong(x: torch.Tensor) -> torch.Tensor:
        return x + torch.ones(2)

    with pytest.raises(RuntimeError) as caught:
        wrong(torch.ones(2, device="cuda"))
    assert str(caught.value) == (
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
    )


def test_a_formula_of_autograd_gets_tensors_on_the_gpu() -> None:
    told: Told = []

    @torch.library.custom_op("sdtest::scale", mutates_args=(), device_types="cuda")  # type: ignore[untyped-decorator]
    def scale(x: torch.Tensor, by: float) -> torch.Tensor:
        told.append((x * by).requires_grad)
        return x * by

    def setup(ctx: Any, inputs: Any, output: torch.Tensor) -> None:
        ctx.by = inputs[1]
        ctx.save_for_backward(output)

    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        told.extend([str(gradient.device), str(ctx.saved_tensors[0].device)])
        return gradient * ctx.by, None

    scale.register_autograd(backward, setup_context=setup)
    x = torch.ones(2, device="cuda:1", requires_grad=True)
    scale(x, 3.0).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [3, 3]
    assert told == [False, "cuda:1", "cuda:1"]


def test_without_a_formula_autograd_sees_what_the_kernel_does(library: torch.library.Library) -> None:
    library.impl("f", lambda x: x * 3, "CUDA")
    x = torch.ones(2, device="cuda", requires_grad=True)
    result = torch.ops.sdtest.f(x)
    assert type(result.grad_fn).__name__ == "MulBackward0"
    with pytest.warns(UserWarning, match="sdtest::f: an autograd kernel was not registered"):
        result.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [3, 3]


def test_autograd_of_cuda_is_not_that_of_the_cpu(library: torch.library.Library) -> None:
    told: Told = []

    def noting(name: str) -> Any:
        def autograd(x: torch.Tensor) -> Any:
            told.append(name)
            with torch._C._AutoDispatchBelowAutograd():
                return torch.ops.sdtest.f(x)

        return autograd

    library.impl("f", lambda x: x * 3, "CompositeExplicitAutograd")
    library.impl("f", noting("cuda"), "AutogradCUDA")
    assert torch.ops.sdtest.f(torch.ones(2)).tolist() == [3, 3] and told == []
    torch.ops.sdtest.f(torch.ones(2, device="cuda"))
    assert told == ["cuda"]
    library.impl("f", noting("cpu"), "AutogradCPU")
    torch.ops.sdtest.f(torch.ones(2))
    torch.ops.sdtest.f(torch.ones(2, device="cuda"))
    assert told == ["cuda", "cpu", "cuda"]


def test_a_composition_is_for_where_no_kernel_is(library: torch.library.Library) -> None:
    library.impl("f", lambda x: x * 2)
    assert torch.ops.sdtest.f(torch.ones(2, device="cuda")).tolist() == [2, 2]
    library.impl("f", lambda x: x * 3, "CUDA")
    assert torch.ops.sdtest.f(torch.ones(2, device="cuda")).tolist() == [3, 3]
    assert torch.ops.sdtest.f(torch.ones(2)).tolist() == [2, 2]


def test_what_chooses_the_backend_is_asked_where_no_kernel_is(library: torch.library.Library) -> None:
    library.define("chosen(Tensor x) -> Tensor")
    library.impl("chosen", lambda x: x.cpu() + 1, "BackendSelect")
    chosen: Any = getattr(torch.ops, library.ns).chosen
    for device in ("cuda", "cpu"):
        result = chosen(torch.ones(2, device=device))
        assert (str(result.device), result.tolist()) == ("cpu", [2.0, 2.0])


def test_a_kernel_that_writes_counts_versions_as_on_cuda() -> None:
    @torch.library.custom_op("sdtest::add_one", mutates_args={"x"})  # type: ignore[untyped-decorator]
    def add_one(x: torch.Tensor) -> None:
        x.add_(1)

    x, expected = torch.zeros(2, device="cuda"), torch.zeros(2)
    for tensor in (x, expected):
        add_one(tensor)
    assert x.tolist() == [1, 1]
    assert x._version == expected._version  # two from torch 2.13 on: one for the argument, and one for add_
    weight = torch.ones(2, device="cuda", requires_grad=True)
    doubled = weight * 2
    loss = (doubled * doubled).sum()
    add_one(doubled.detach())
    with pytest.raises(RuntimeError, match=f"is at version {expected._version}; expected version 0 instead"):
        loss.backward()


def test_arguments_that_are_no_tensors_come_to_the_kernel_as_they_are() -> None:
    told: Told = []

    @torch.library.custom_op("sdtest::many", mutates_args=())  # type: ignore[untyped-decorator]
    def many(x: torch.Tensor, y: torch.Tensor | None, n: int, s: str, dtype: torch.dtype | None, on: bool) -> int:
        told.append((y, n, s, dtype, on))
        return 7

    assert many(torch.ones(2, device="cuda"), None, 3, "a", torch.half, True) == 7
    assert told == [(None, 3, "a", torch.half, True)]


def test_an_operator_without_tensors_makes_them_on_its_device() -> None:
    @torch.library.custom_op("sdtest::make", mutates_args=(), device_types=("cpu", "cuda"))  # type: ignore[untyped-decorator]
    def make(device: torch.device) -> torch.Tensor:
        return torch.ones(2, device=device)

    assert str(make("cuda:1").device) == "cuda:1" and str(make("cpu").device) == "cpu"


@pytest.mark.filterwarnings("ignore:There is a performance drop")  # PyTorch's, for want of a rule
def test_vmap_calls_the_rule_and_then_the_kernel_for_cuda() -> None:
    told: Told = []
    one = one_for("cuda", told)
    x = torch.ones(2, 3, device="cuda")
    assert str(torch.vmap(one)(x).device) == "cuda:0" and len(told) == 2  # one by one, for want of a rule

    @one.register_vmap  # type: ignore[untyped-decorator]
    def _(info: Any, in_dims: Any, x: torch.Tensor) -> Any:
        told.append(info.batch_size)
        return one(x), in_dims[0]

    told.clear()
    assert torch.vmap(one)(x).tolist() == [[2, 2, 2]] * 2
    assert told == [2, ("cuda:0", True, 0)]


def test_fake_tensors_and_graphs_have_the_device_of_the_fake_kernel() -> None:
    one = one_for("cuda", [])
    one.register_fake(lambda x: torch.empty_like(x))
    with FakeTensorMode():
        assert str(one(torch.ones(2, device="cuda:1")).device) == "cuda:1"
    x = torch.ones(2, device="cuda:1")
    graph = make_fx(lambda x: one(x) * 2, tracing_mode="fake")(x)
    assert "torch.ops.sdtest.one.default(x_1)" in graph.code
    assert graph(x).tolist() == [4, 4]
    exported = torch.export.export(torch.nn.ReLU(), (x,))
    assert str(exported.module()(x).device) == "cuda:1"


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")  # PyTorch shows it to nobody
def test_opcheck_finds_no_fault_with_an_operator_on_the_gpu() -> None:
    one = one_for("cuda", [])
    one.register_fake(lambda x: torch.empty_like(x))
    one.register_autograd(lambda ctx, gradient: gradient)
    checked = torch.library.opcheck(one, (torch.ones(2, device="cuda", requires_grad=True),))
    assert set(checked.values()) == {"SUCCESS"}


def test_a_librarys_kernel_in_c_for_the_cpu_stands_for_the_one_that_its_build_for_cuda_has() -> None:
    library = torch._C._dispatch_library("DEF", "sdtest_in_c", "", "ops.cpp", 1)
    library.define("nms(Tensor x, Tensor y) -> Tensor", "", ())
    library.impl("nms", "CPU", lambda x, y: x + y, False)  # as C++ does, past torch.library
    x, y = torch.ones(2), torch.ones(2, device="cuda")
    assert torch.ops.sdtest_in_c.nms(x, x).tolist() == [2, 2]
    assert str(torch.ops.sdtest_in_c.nms(y, y).device) == "cuda:0"
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        torch.ops.sdtest_in_c.nms(x, y)
    own = torch.library.Library("sdtest_in_c", "IMPL")
    own.impl("nms", lambda x, y: x.to("cuda") + y, "CUDA")
    assert torch.ops.sdtest_in_c.nms(x, y).tolist() == [2, 2]
    own._destroy()
    library.reset()


def test_an_operator_of_pytorch_can_be_overridden_for_the_gpu(aten: torch.library.Library) -> None:
    told: Told = []

    def mine(x: torch.Tensor, y: Any, alpha: int = 1) -> Any:
        told.append(y if isinstance(y, int) else str(y.device))
        return x * 10

    aten.impl("add.Tensor", mine, "CUDA")
    x = torch.ones(2, device="cuda")
    assert (x + 1).tolist() == (x + x).tolist() == (x + torch.ones(2)).tolist() == [10, 10]
    assert told == [1, "cuda:0", "cpu"]
    assert (torch.ones(2) + 1).tolist() == [2, 2]
    aten._destroy()
    assert (x + 1).tolist() == [2, 2]


def test_an_operator_of_pytorch_that_is_overridden_for_the_cpu_computes_as_ever_on_the_gpu(
    aten: torch.library.Library,
) -> None:
    aten.impl("sin", lambda x: x * 10, "CPU")
    assert torch.ones(2).sin().tolist() == [10, 10]
    x = torch.zeros(2, device="cuda", requires_grad=True)
    assert x.sin().tolist() == [0, 0]
    x.cos().sum().backward()  # whose derivative is by sin
    assert x.grad is not None and x.grad.tolist() == [0, 0]


def test_a_mode_sees_an_operator_of_pytorch_that_is_overridden(aten: torch.library.Library) -> None:
    told: Told = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            told.append((str(func), args[1], types))
            return func(*args, **(kwargs or {}))

    aten.impl("add.Tensor", lambda x, y: x * 10, "CUDA")
    x = torch.ones(2, device="cuda")
    with Mode():
        result = x + 1
    assert told == [("aten.add.Tensor", 1, ())] and result.tolist() == [10, 10]


def test_a_rule_for_a_mode_is_told_no_class(library: torch.library.Library) -> None:
    told: Told = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    def rule(mode: Any, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        told.append((str(func), types, str(args[0].device)))
        return func(*args)

    library.impl("f", lambda x: x + 1, "CUDA")
    torch.library.register_torch_dispatch("sdtest::f", Mode, rule, lib=library)
    x = torch.ones(2, device="cuda")
    with Mode():
        torch.ops.sdtest.f(x)
    assert told == [("sdtest.f.default", (), "cuda:0")]


def test_the_kernel_of_cuda_can_be_had_and_called(aten: torch.library.Library) -> None:
    original = torch.library.get_kernel("aten::sin", "CUDA")
    aten.impl("sin", lambda keys, x: original.call_boxed(keys, x) + 1, "CUDA", with_keyset=True)
    result = torch.zeros(2, device="cuda").sin()
    assert result.tolist() == [1, 1] and str(result.device) == "cuda:0"


def test_a_kernel_is_told_the_keys_of_cuda(library: torch.library.Library) -> None:
    told: Told = []

    def kernel(keys: Any, x: torch.Tensor) -> torch.Tensor:
        told.append((keys.highestPriorityTypeId().name, keys.has(torch._C.DispatchKey.CPU)))
        return x + 1

    library.impl("f", kernel, "CUDA", with_keyset=True)
    torch.ops.sdtest.f(torch.ones(2, device="cuda"))
    assert told == [("CUDA", False)]


def test_autograd_can_be_passed_by(library: torch.library.Library) -> None:
    library.impl("f", lambda x: x * 3, "CUDA")
    library.impl("f", torch.library.fallthrough_kernel, "AutogradCUDA")
    result = torch.ops.sdtest.f(torch.ones(2, device="cuda", requires_grad=True))
    assert type(result.grad_fn).__name__ == "MulBackward0"


def test_operators_that_were_registered_before_a_simulation_are_met(library: torch.library.Library) -> None:
    told: Told = []
    one = one_for("cuda", told)
    library.impl("f", lambda x: x * 3, "CUDA")
    overriding = torch.library.Library("aten", "IMPL")
    overriding.impl("cosh", lambda x: x * 10, "CUDA")
    with simulate_cuda(2):
        x = torch.ones(2, device="cuda:1")
        assert one(x).tolist() == [2, 2] and told == [("cuda:1", True, 1)]
        assert torch.ops.sdtest.f(x).tolist() == [3, 3]
        assert x.cosh().tolist() == [10, 10]
        overriding._destroy()
        assert x.cosh().tolist() == pytest.approx([1.543, 1.543], abs=1e-3)
        with pytest.raises(NotImplementedError):
            one(torch.ones(2))


def kernels(name: str) -> list[str]:
    keys = ("Python", "AutogradCPU", "CPU", "CUDA")
    return [key for key in keys if torch._C._dispatch_has_kernel_for_dispatch_key(name, key)]


def test_what_was_put_in_front_goes_with_the_library() -> None:
    for let_go in (torch.library.Library._destroy, lambda library: None):
        library = torch.library.Library("sdtest", "DEF")
        library.define("f(Tensor x) -> Tensor")
        library.impl("f", torch.sin, "CUDA")
        library.impl("f", torch.sin, "AutogradCUDA")
        assert kernels("sdtest::f") == ["Python", "AutogradCPU", "CUDA"]
        let_go(library)
        del library
        gc.collect()
        assert not torch._C._dispatch_has_kernel("sdtest::f")
    one_for("cuda", [])
    assert kernels("sdtest::one") == ["Python", "CUDA"]
    one_for("cpu", [])  # in its place
    with pytest.raises(NotImplementedError):
        torch.ops.sdtest.one(torch.ones(2, device="cuda"))


def test_what_was_put_in_front_goes_with_a_simulation_that_began_before_or_after(
    library: torch.library.Library,
) -> None:
    library.impl("f", lambda x: x * 3, "CUDA")
    library.impl("f", lambda x: x * 4, "AutogradCUDA")
    before = kernels("sdtest::f")
    with simulate_cuda():
        assert kernels("sdtest::f") == ["Python", "AutogradCPU", "CUDA"]
        library.impl("f", lambda x: x * 5, "CPU")
    assert kernels("sdtest::f") == ["CPU", *before]
    assert torch.ops.sdtest.f(torch.ones(2)).tolist() == [5, 5]


@pytest.mark.filterwarnings("error")
def test_registering_one_kernel_after_the_other_warns_of_nothing(library: torch.library.Library) -> None:
    for key in ("CUDA", "CPU", "AutogradCUDA", "Autograd"):
        library.impl("f", lambda x: x, key)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("f", 3, "CUDA"), "Input function is required to be a callable but found type <class 'int'>"),
        ((3, torch.sin, "CUDA"), "impl should be passed either a name or an OpOverload object as the first argument"),
        (("f", torch.sin, "NVIDIA"), "could not parse dispatch key: NVIDIA"),
    ],
)
def test_what_pytorch_refuses_is_refused(library: torch.library.Library, arguments: Any, text: str) -> None:
    with pytest.raises((TypeError, RuntimeError), match=text):
        library.impl(*arguments)
