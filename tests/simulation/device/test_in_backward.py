"""In backward the current GPU and its stream are those of the node that runs, whatever is current in the caller.

What is expected here is what PyTorch's CUDA build answers to the same lines.
"""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

pytestmark = pytest.mark.usefixtures("two_gpus")


@pytest.fixture(params=[0, 1])
def caller(request: pytest.FixtureRequest) -> Iterator[int]:
    """The current GPU of the thread that calls backward."""
    with torch.cuda.device(request.param):
        yield request.param
        assert torch.cuda.current_device() == request.param


def leaf(device: Any) -> torch.Tensor:
    return torch.ones(3, device=device, requires_grad=True)


def current() -> int:
    """The current GPU, which has to be the one that factories mean."""
    here = torch.cuda.current_device()
    assert torch.full((1,), 2.0, device="cuda").device == torch.device("cuda", here)
    return here


class Seen(list[Any]):
    """What was current, one after the other."""

    def hook(self, *_: object) -> None:
        self.append(current())

    def on(self, tensor: torch.Tensor) -> torch.Tensor:
        tensor.register_hook(self.hook)
        return tensor


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient * torch.full((1,), 2.0, device="cuda")


@pytest.mark.parametrize("device", [0, 1])
def test_a_function_makes_its_tensors_where_its_node_is(caller: int, device: int) -> None:
    x = leaf(device)
    Double.apply(x).sum().backward()
    assert x.grad is not None and x.grad.device.index == device
    (gradient,) = torch.autograd.grad(Double.apply(x).sum(), x)
    assert gradient.device.index == device


@pytest.mark.parametrize("device", [0, 1])
def test_hooks_of_tensors_and_nodes_see_the_gpu_of_the_node(caller: int, device: int) -> None:
    seen = Seen()
    x = seen.on(leaf(device))
    x.register_post_accumulate_grad_hook(seen.hook)
    y = seen.on(x * 2)
    y.grad_fn.register_prehook(seen.hook)
    y.grad_fn.register_hook(seen.hook)
    of_leaf = y.grad_fn.next_functions[0][0]
    of_leaf.register_prehook(seen.hook)
    of_leaf.register_hook(seen.hook)
    torch.autograd.graph.register_multi_grad_hook((x, y), seen.hook)
    y.sum().backward()
    assert seen == [device] * 8


def test_on_the_cpu_hooks_see_what_is_current_in_the_caller(caller: int) -> None:
    seen = Seen()
    x = seen.on(leaf("cpu"))
    x.register_post_accumulate_grad_hook(seen.hook)
    y = seen.on(x * 2)
    seen.on(seen.on(y.to(1 - caller) * 2).cpu()).sum().backward()
    assert seen == [caller, 1 - caller, caller, caller, caller]


def test_full_backward_hooks_of_a_module_see_its_gpu(caller: int) -> None:
    seen = Seen()
    model = nn.Linear(3, 3).cuda(1)
    model.register_full_backward_pre_hook(seen.hook)
    model.register_full_backward_hook(seen.hook)
    model(torch.ones(2, 3, device="cuda:1", requires_grad=True)).sum().backward()
    assert seen == [1, 1]


def test_hooks_of_a_parameter_see_where_it_was_moved(caller: int) -> None:
    seen = Seen()
    model = nn.Linear(3, 3)
    seen.on(model.weight)
    model.bias.register_post_accumulate_grad_hook(seen.hook)
    model.cuda(1)
    model(torch.ones(2, 3, device="cuda:1")).sum().backward()
    assert seen == [1, 1]


@pytest.mark.parametrize("use_reentrant", [True, False])
@pytest.mark.parametrize("factor", [2.0, torch.tensor(2.0)])
def test_a_checkpoint_recomputes_where_its_node_is(caller: int, use_reentrant: bool, factor: Any) -> None:
    seen = Seen()

    def part(x: torch.Tensor) -> torch.Tensor:
        seen.hook()
        return (x * factor).sin()

    checkpoint(part, leaf("cuda:1"), use_reentrant=use_reentrant).sum().backward()
    assert seen == [caller, 1]


def unpacked(compute: Callable[[], torch.Tensor]) -> list[tuple[str, int]]:
    """Of each tensor that backward unpacks: where it is, and what is current."""
    seen: list[tuple[str, int]] = []

    def unpack(content: list[torch.Tensor]) -> torch.Tensor:
        seen.append((str(content[0].device), current()))
        return content[0]

    with torch.autograd.graph.saved_tensors_hooks(lambda x: [x], unpack):
        loss = compute().sum()
    loss.backward()
    return seen


def test_saved_tensors_are_unpacked_where_their_node_is(caller: int) -> None:
    x, number, places = leaf("cuda:1"), torch.tensor(2.0), torch.tensor([0, 1])
    assert unpacked(x.exp) == [("cuda:1", 1)]
    assert unpacked(lambda: x * number) == [("cpu", 1)]
    assert unpacked(lambda: x[places]) == [("cpu", 1)]
    on_cpu = leaf("cpu")
    assert unpacked(lambda: (on_cpu * number).cuda(1) * number) == [("cpu", 1), ("cpu", caller)]


def test_one_saved_tensor_is_packed_in_the_caller_and_unpacked_where_its_node_is(caller: int) -> None:
    seen = Seen()

    def noting(x: torch.Tensor) -> torch.Tensor:
        seen.hook()
        return x

    y = leaf("cuda:1").exp()
    y.grad_fn._raw_saved_result.register_hooks(noting, noting)
    y.grad_fn._saved_result  # noqa: B018
    y.sum().backward()
    assert seen == [caller, caller, 1]


def test_second_derivatives_see_the_gpu_of_their_node(caller: int) -> None:
    seen = Seen()
    with torch.autograd.graph.saved_tensors_hooks(lambda x: (seen.hook(), x)[1], lambda x: (seen.hook(), x)[1]):
        x = leaf("cuda:1")
        (gradient,) = torch.autograd.grad(Double.apply(x.exp()).sum(), x, create_graph=True)
        assert seen == [caller, 1, 1]  # the derivative of exp unpacks its result, and saves it again
        seen.clear()
        seen.on(gradient).sum().backward()
        assert set(seen) == {1}


def test_transforms_and_functional_derivatives_see_the_gpu_of_the_node(caller: int) -> None:
    seen = Seen()

    class Noted(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None: ...

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
            seen.hook()
            return gradient * 2

    def function(x: torch.Tensor) -> torch.Tensor:
        return Noted.apply(seen.on(x * 1)).sum()

    x = torch.ones(3, device="cuda:1")
    torch.func.grad(function)(x)
    torch.func.vjp(function, x)[1](torch.ones((), device="cuda:1"))
    torch.autograd.functional.jacobian(function, x)
    torch.autograd.functional.hvp(function, x, x)
    assert len(seen) > 6 and set(seen) == {1}
    seen.clear()
    torch.func.vmap(torch.func.grad(lambda x: Noted.apply(x).sum()))(torch.ones(2, 3, device="cuda:1"))
    assert seen == [1]


class Several(torch.autograd.Function):
    """One tensor on each of several devices."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, seen: Seen, *devices: str) -> Any:
        ctx.seen = seen
        return tuple(x.to(device) * 1 for device in devices)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        ctx.seen.hook()
        return (sum(gradient.to("cuda:0") for gradient in gradients), None, *[None] * len(gradients))


@pytest.mark.parametrize("used", [0, 1])
@pytest.mark.parametrize(
    ("devices", "home"), [(("cuda:0", "cuda:1"), 0), (("cuda:1", "cuda:0"), 1), (("cpu", "cuda:1"), 1)]
)
def test_a_function_runs_on_the_first_gpu_among_its_outputs(
    caller: int, devices: tuple[str, ...], home: int, used: int
) -> None:
    seen = Seen()
    outputs = Several.apply(leaf("cuda:0"), seen, *devices)
    seen.on(outputs[used]).sum().backward()
    assert seen == [home, home]


def test_backward_inside_a_hook_begins_on_the_gpu_of_its_node_and_returns_there(caller: int) -> None:
    seen = Seen()

    def nested(gradient: torch.Tensor) -> None:
        seen.append("outer")
        with torch.enable_grad():
            seen.on(leaf("cuda:0") * 2).sum().backward()
            seen.hook()
            torch.cuda.set_device(0)
            seen.on(leaf("cpu") * 2).sum().backward()
            seen.hook()

    x = seen.on(leaf("cuda:1"))
    y = x * 2
    y.register_hook(nested)
    seen.on(y).sum().backward()
    assert seen == ["outer", 0, 1, 1, 1, 1, 1]


def test_a_gpu_that_a_hook_makes_current_is_so_until_its_node_has_run(caller: int) -> None:
    seen = Seen()
    x = seen.on(leaf("cuda:1"))
    y = x * 2
    y.register_hook(lambda _: torch.cuda.set_device(0))
    seen.on(y)
    y.grad_fn.register_hook(seen.hook)
    y.sum().backward()
    assert seen == [0, 0, 1]


def test_what_a_hook_of_the_cpu_makes_current_stays_so_in_the_caller() -> None:
    seen = Seen()
    y = seen.on(leaf("cpu")) * 2
    y.register_hook(lambda _: torch.cuda.set_device(1))
    y.sum().backward()
    assert [*seen, torch.cuda.current_device()] == [1, 1]
    torch.cuda.set_device(0)


def test_an_exception_in_a_hook_leaves_the_callers_gpu_as_it_was(caller: int) -> None:
    def refuse(gradient: torch.Tensor) -> None:
        torch.cuda.set_device(0)
        raise ValueError("mine")

    y = leaf("cuda:1") * 2
    y.register_hook(refuse)
    with pytest.raises(ValueError, match="mine"):
        y.sum().backward()
    assert torch.cuda.current_device() == caller


def test_threads_run_backward_each_on_its_gpu() -> None:
    together = threading.Barrier(2)
    seen: dict[int, list[int]] = {0: [], 1: []}

    def work(device: int) -> None:
        def hook(gradient: torch.Tensor) -> None:
            together.wait(10)
            seen[device].append(current())
            together.wait(10)

        torch.cuda.set_device(1 - device)
        y = leaf(device) * 2
        y.register_hook(hook)
        y.sum().backward()
        seen[device].append(current())

    threads = [threading.Thread(target=work, args=(device,)) for device in seen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {0: [0, 1], 1: [1, 0]}


def test_a_dispatch_mode_sees_the_gpu_of_the_node(caller: int) -> None:
    seen: list[tuple[str, int]] = []

    class Noting(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append((func._opname, torch.cuda.current_device()))
            return func(*args, **(kwargs or {}))

    y = leaf("cuda:1").exp().sum()
    with Noting():
        y.backward()
    assert seen[0] == ("ones_like", caller)
    assert ("mul", 1) in seen and {device for _, device in seen[1:]} == {1}


def test_a_callback_at_the_end_sees_the_gpu_of_the_last_node_and_the_callers_streams(caller: int) -> None:
    seen: list[tuple[int, int]] = []

    def note() -> None:
        seen.append((current(), torch.cuda.current_stream(1).stream_id))

    def queue(gradient: torch.Tensor) -> None:
        torch.autograd.Variable._execution_engine.queue_callback(note)

    stream = torch.cuda.Stream(1)
    (x := leaf("cuda:1")).register_hook(queue)
    with torch.cuda.stream(stream), torch.cuda.device(caller):
        loss = (x * 2).sum()
        loss.backward()
    on_cpu = leaf("cpu")
    on_cpu.register_hook(lambda _: None)
    y = on_cpu.to("cuda:1") * 2
    y.register_hook(queue)
    y.sum().backward()
    assert seen == [(1, stream.stream_id), (caller, 0)]


def test_a_hook_of_a_number_on_the_cpu_gets_its_gradient_there() -> None:
    seen: list[str] = []
    number = torch.tensor(2.0, requires_grad=True)
    number.register_hook(lambda gradient: seen.append(str(gradient.device)))
    scaled = number * 1
    scaled.register_hook(lambda gradient: seen.append(str(gradient.device)))
    (leaf("cuda:1") * scaled).sum().backward()
    (leaf("cuda:1") * number).sum().backward()
    assert seen == ["cpu", "cpu", "cpu"]
    another = torch.tensor(2.0, requires_grad=True)
    another.register_hook(lambda gradient: gradient.zero_() and None)
    (leaf("cuda:1") * another).sum().backward()
    assert another.grad == 0
