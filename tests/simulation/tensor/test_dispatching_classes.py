"""Classes with memory of their own that dispatch operators themselves, and PyTorch's own that hold tensors."""

import copy
import io
import logging
import pickle
from typing import Any, ClassVar

import pytest
import torch
from torch import nn
from torch.testing._internal.logging_tensor import LoggingTensor
from torch.testing._internal.two_tensor import TwoTensor
from torch.utils._pytree import tree_map_only

TWO_DEVICES = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"


class Passing(torch.Tensor):
    """Passes operators on to torch.Tensor, and makes its own what comes of them."""

    calls: ClassVar[list[Any]] = []
    count = 0

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.calls.append((func.__name__, types))
        cls.count += 1
        result = super().__torch_dispatch__(func, types, args, kwargs or {})
        return tree_map_only(torch.Tensor, lambda x: x if isinstance(x, cls) else x.as_subclass(cls), result)


class Beside(torch.Tensor):
    """Has the memory of the tensor beside it, and computes with that."""

    beside: torch.Tensor

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, tensor: torch.Tensor, requires_grad: bool = False) -> Any:
        made: Any = torch.Tensor._make_subclass(cls, tensor, requires_grad)
        made.beside = tensor
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args, kwargs = tree_map_only(cls, lambda x: x.beside, (args, kwargs or {}))
        return tree_map_only(torch.Tensor, cls, func(*args, **kwargs))


class Switching(torch.Tensor):
    """Switches dispatch off, and computes with itself."""

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        guard = torch._C._DisableTorchDispatch()
        try:
            return tree_map_only(torch.Tensor, lambda x: x.as_subclass(cls), func(*args, **(kwargs or {})))
        finally:
            del guard


class Weight(nn.Parameter):
    """A parameter that dispatches operators."""

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return super().__torch_dispatch__(func, types, args, kwargs or {})


pytestmark = pytest.mark.usefixtures("two_gpus")


def ones(*shape: int, device: str = "cuda") -> torch.Tensor:
    return torch.ones(shape, device=device)


def passing(*shape: int, device: str = "cuda") -> Any:
    return ones(*shape, device=device).as_subclass(Passing)


def two(device: str = "cuda") -> Any:
    return TwoTensor(ones(2, 2, device=device), ones(2, 2, device=device) + 1)


def places(*tensors: Any) -> list[str]:
    return [str(tensor.device) for tensor in tensors]


def stored(x: Any, **options: Any) -> Any:
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    return torch.load(file, weights_only=False, **options)


@pytest.mark.parametrize("make", [passing, lambda *shape: Beside(ones(*shape)), lambda *shape: Weight(ones(*shape))])
def test_it_is_on_the_gpu_and_meets_others_as_any_tensor_does(make: Any) -> None:
    tensor = make(2)
    assert places(tensor, tensor + 1, tensor + tensor, tensor * torch.tensor(2.0), tensor[0]) == ["cuda:0"] * 5
    assert tensor.is_cuda
    for call in (lambda a, b: a + b, lambda a, b: b + a, lambda a, b: a.detach().add_(b)):
        with pytest.raises(RuntimeError) as refusal:
            call(tensor, torch.ones(2))
        assert str(refusal.value) == TWO_DEVICES


def test_one_on_the_cpu_meets_a_plain_tensor_on_a_gpu() -> None:
    for call in (lambda: passing(2, device="cpu") + ones(2), lambda: torch.mul(ones(2), passing(2, device="cpu"))):
        with pytest.raises(RuntimeError) as refusal:
            call()
        assert str(refusal.value) == TWO_DEVICES
    assert places(passing(2, device="cpu")[0] * ones(2)) == ["cuda:0"]


def test_its_class_is_told_what_it_is_told_on_cuda() -> None:
    Passing.calls.clear()
    Passing.count = 0
    tensor = passing(2) + ones(2)
    assert Passing.calls == [("add.Tensor", (Passing,))]
    assert (Passing.count, tensor.__class__ is Passing) == (1, True)
    Passing.calls.clear()
    passing(2, device="cpu").cuda().to("cuda:1").cpu()
    assert [name for name, _ in Passing.calls] == ["_to_copy.default"] * 3


def test_it_moves_alone_and_in_a_module() -> None:
    assert places(passing(2).cpu(), passing(2).to("cuda:1"), passing(2, device="cpu").cuda()) == [
        "cpu", "cuda:1", "cuda:0",
    ]  # fmt: skip
    assert type(passing(2).cpu()) is Passing
    moved = Beside(torch.ones(2)).cuda()
    assert places(moved, moved.beside) == ["cuda:0", "cuda:0"]
    layer = nn.Linear(2, 2)
    layer.weight = weight = nn.Parameter(passing(2, 2, device="cpu"))
    layer.special = special = Weight(torch.ones(2))
    for place in ("cuda:0", "cuda:1", "cpu", "cuda:0"):
        layer.to(place)
        assert layer.weight is weight
        assert layer.special is special
        assert places(weight, special, layer(ones(1, 2, device=place))) == [place] * 3
        assert (weight.__class__, special.__class__) == (Passing, Weight)
    with pytest.raises(RuntimeError, match="mat1 is on cpu, different from other tensors on cuda:0"):
        layer(torch.ones(1, 2))


def test_it_is_trained() -> None:
    parameters = [nn.Parameter(passing(2)), Weight(ones(2)), nn.Parameter(two())]
    optimizer = torch.optim.AdamW(parameters)
    for parameter in parameters:
        (parameter * 2).sum().backward()
        assert (parameter.grad.__class__, *places(parameter.grad)) == (
            torch.Tensor if isinstance(parameter, Weight) else parameter.__class__, "cuda:0",
        )  # fmt: skip
    optimizer.step()
    assert all(places(optimizer.state[parameter]["exp_avg"]) == ["cuda:0"] for parameter in parameters)
    with pytest.raises(RuntimeError):
        (nn.Parameter(passing(2)) * torch.ones(2)).sum().backward()


def test_it_is_written_to_and_its_views_are_views() -> None:
    tensor = passing(4)
    tensor[1:].mul_(3)
    tensor[0] = 5.0
    assert tensor.cpu().as_subclass(torch.Tensor).view(4).sum().item() == 14
    assert tensor.data_ptr() == tensor[:].data_ptr()
    assert tensor._version == 2


def test_it_is_copied_stored_and_printed() -> None:
    for tensor in (copy.deepcopy(passing(2)), pickle.loads(pickle.dumps(passing(2))), stored(passing(2))):
        assert (tensor.__class__, *places(tensor)) == (Passing, "cuda:0")
    for place in ("cpu", "cuda:1"):
        assert places(stored(passing(2), map_location=place)) == [place]
    assert repr(passing()) == "Passing(1., device='cuda:0')"
    held = stored(two(), map_location="cuda:1")
    assert (type(held), *places(held, held.b)) == (TwoTensor, "cuda:1", "cuda:1")


def test_python_cannot_read_it() -> None:
    with pytest.raises(RuntimeError, match=r"^\.tolist\(\) is not supported for tensor subclasses, got Passing$"):
        passing(2).tolist()
    with pytest.raises(RuntimeError, match=r"^\.numpy\(\) is not supported for tensor subclasses\.$"):
        passing(2).numpy()


def test_pytorchs_own_that_hold_tensors_are_where_these_are(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, logger="LoggingTensor")  # its records cannot be formatted
    tensor = two()
    assert places(tensor, (tensor + 1).b, tensor[0].a, tensor.add_(1).b) == ["cuda:0"] * 4
    assert repr(tensor) == f"TwoTensor({tensor.a!r}, {tensor.b!r})"
    for other in (torch.ones(2, 2), two("cpu")):
        with pytest.raises(RuntimeError, match=TWO_DEVICES):
            tensor * other
    moved = two("cpu").cuda(1)
    assert places(moved, moved.a, moved.b, moved.cpu().b) == ["cuda:1", "cuda:1", "cuda:1", "cpu"]
    assert places(LoggingTensor(torch.ones(2)).cuda().elem) == ["cuda:0"]


def test_a_class_without_torch_dispatch_is_refused_as_on_cuda() -> None:
    with pytest.raises(TypeError, match=r"^Tensor must define __torch_dispatch__$"):
        torch.Tensor._make_wrapper_subclass(torch.Tensor, (2,), device="cuda")


def test_as_subclass_of_it_is_what_its_class_gives() -> None:
    assert passing(2).as_subclass(torch.Tensor).__class__ is Passing
    with pytest.raises(RuntimeError, match="already associated to a python object of type Passing which is not a sub"):
        passing(2).as_subclass(Beside)


def test_what_switches_dispatch_off_is_computed_where_its_tensors_are() -> None:
    tensor = ones(2).as_subclass(Switching)
    assert places(tensor + 1, tensor * ones(2), tensor.cpu(), tensor.cpu().cuda(1)) == [
        "cuda:0", "cuda:0", "cpu", "cuda:1",
    ]  # fmt: skip
    with pytest.raises(RuntimeError, match=TWO_DEVICES):
        tensor + torch.ones(2)
    with torch._C._DisableTorchDispatch():
        assert places(ones(2) + ones(2), torch.zeros_like(ones(2)), torch.ones(2) + 1) == ["cuda:0", "cuda:0", "cpu"]
        with pytest.raises(RuntimeError, match=TWO_DEVICES):
            ones(2) + torch.ones(2)
    assert torch._C._len_torch_dispatch_stack() == 0


def test_a_gradient_on_the_cpu_is_of_its_class_again() -> None:
    tensor = passing(2, device="cpu").requires_grad_()
    (tensor.cuda() * ones(2)).sum().backward()
    assert (type(tensor.grad), *places(tensor.grad)) == (Passing, "cpu")


def test_a_gradient_that_is_given_for_it_may_be_anywhere() -> None:
    for tensor in (passing(2).requires_grad_(), two().requires_grad_()):
        (tensor * 2).backward(torch.ones_like(tensor).cpu())
        assert tensor.grad is not None


def test_its_stream_is_recorded_by_its_class() -> None:
    Passing.calls.clear()
    passing(2).record_stream(torch.cuda.current_stream())
    assert [name for name, _ in Passing.calls] == ["record_stream.default"]


def test_legacy_types_know_what_holds_tensors() -> None:
    assert (isinstance(two(), torch.cuda.FloatTensor), isinstance(two(), torch.FloatTensor)) == (True, False)
    assert (isinstance(two("cpu"), torch.cuda.FloatTensor), isinstance(two("cpu"), torch.FloatTensor)) == (False, True)


@pytest.mark.parametrize("devices", ["cuda", "cpu", None])
def test_a_kernel_of_the_programs_is_called_for_it(devices: Any) -> None:
    def write(x: torch.Tensor) -> None:
        x.add_(1)

    operator = torch.library.custom_op("dispatching::write", write, mutates_args={"x"}, device_types=devices)
    tensor = passing(3)
    if devices == "cpu":
        with pytest.raises(NotImplementedError, match="with arguments from the 'CUDA' backend"):
            operator(tensor)
    else:
        operator(tensor)
        assert tensor.sum().item() == 6


def test_zeros_that_a_derivative_makes_are_where_the_tensors_of_a_class_are() -> None:
    tensor = two("cuda:1").requires_grad_()
    tensor.unbind()[0].sum().backward()
    assert places(tensor.grad, tensor.grad.a, tensor.grad.b) == ["cuda:1"] * 3
    assert tensor.grad.a.tolist() == [[1.0, 1.0], [0.0, 0.0]]
    kept = torch.zeros(2)  # the program's own stays where it is
    other = two().requires_grad_()
    other.register_hook(lambda gradient: gradient + kept)
    with pytest.raises(RuntimeError, match=TWO_DEVICES):
        other.sum().backward()


@pytest.mark.parametrize(
    "reduced", [lambda x: x.sum(), lambda x: x.mean(), lambda x: x[0].sum(), lambda x: x.expand(3, 2, 2).sum()]
)
def test_a_gradient_that_autograd_copies_stays_on_the_gpu(reduced: Any) -> None:
    tensor = two("cuda:1").requires_grad_()
    reduced(tensor).backward()
    reduced(tensor).backward()
    assert places(tensor.grad, tensor.grad.a, tensor.grad.b) == ["cuda:1"] * 3
