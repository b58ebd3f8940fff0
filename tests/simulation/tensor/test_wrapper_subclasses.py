"""A program's tensors that hold others and dispatch operators themselves: each is where what it holds is."""

import copy
import io
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.utils._pytree import tree_map_only

pytestmark = pytest.mark.usefixtures("two_gpus")


class Held(torch.Tensor):
    """Computes with the tensor that it holds."""

    inner: torch.Tensor

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> Any:
        options: dict[str, Any] = {"dtype": inner.dtype, "device": inner.device, "requires_grad": inner.requires_grad}
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, **options)

    def __init__(self, inner: torch.Tensor) -> None:
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args, kwargs = tree_map_only(cls, lambda x: x.inner, (args, kwargs or {}))
        return tree_map_only(torch.Tensor, cls, func(*args, **kwargs))


class Quantized(torch.Tensor):
    """A weight in 8 bits, which computes as what it stands for."""

    numbers: torch.Tensor
    scale: torch.Tensor

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, numbers: torch.Tensor, scale: torch.Tensor) -> Any:
        return torch.Tensor._make_wrapper_subclass(cls, numbers.shape, dtype=scale.dtype, device=numbers.device)

    def __init__(self, numbers: torch.Tensor, scale: torch.Tensor) -> None:
        self.numbers, self.scale = numbers, scale

    def __tensor_flatten__(self) -> Any:
        return ["numbers", "scale"], None

    @classmethod
    def __tensor_unflatten__(cls, parts: Any, context: Any, size: Any, stride: Any) -> Any:
        return cls(parts["numbers"], parts["scale"])

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in (torch.ops.aten.detach.default, torch.ops.aten.clone.default):
            return cls(func(args[0].numbers), func(args[0].scale))
        if func is torch.ops.aten._to_copy.default:
            home = (kwargs or {}).get("device")
            return cls(args[0].numbers.to(home), args[0].scale.to(home))
        args, kwargs = tree_map_only(cls, lambda x: x.numbers * x.scale, (args, kwargs or {}))
        return func(*args, **kwargs)


def ones(*shape: int, device: str = "cuda") -> torch.Tensor:
    return torch.ones(shape, device=device)


def quantized(device: str) -> Quantized:
    return Quantized(torch.ones(4, 3, dtype=torch.int8, device=device), torch.tensor(0.5, device=device))


def places(*tensors: Any) -> list[str]:
    return [str(tensor.device) for tensor in tensors]


def test_it_says_where_it_is() -> None:
    held = Held(ones(3, device="cuda:1"))
    assert (str(held.device), held.is_cuda, held.is_cpu, held.get_device()) == ("cuda:1", True, False, 1)
    assert torch.get_device(held) == 1
    assert (held.type(), Held(torch.ones(3)).type()) == ("torch.cuda.FloatTensor", "torch.FloatTensor")
    held.record_stream(torch.cuda.current_stream())
    assert places(Held(torch.ones(3)), copy.deepcopy(held), held.detach(), held.view(3, 1)) == [
        "cpu", "cuda:1", "cuda:1", "cuda:1",
    ]  # fmt: skip


def test_it_moves_with_what_it_holds() -> None:
    held = Held(ones(3))
    assert held.cuda() is held
    for moved, place in (
        (held.cpu(), "cpu"), (held.to("cuda:1"), "cuda:1"), (Held(torch.ones(3)).cuda(), "cuda:0"),
        (Held(torch.ones(3)).to(ones(1, device="cuda:1")), "cuda:1"), (held.to(torch.float64), "cuda:0"),
    ):  # fmt: skip
        assert type(moved) is Held
        assert places(moved, moved.inner) == [place, place]
    held.data = Held(torch.ones(3))
    assert places(held) == ["cpu"]


def test_what_is_made_like_it_is_beside_it() -> None:
    held = Held(ones(3, device="cuda:1"))
    for made in (torch.zeros_like(held), held.new_ones(2), torch.rand_like(held)):
        assert places(made, made.inner) == ["cuda:1", "cuda:1"]
    for place in ("cuda:0", "cpu"):
        made = torch.empty_like(held, device=place)
        assert places(made, made.inner) == [place, place]
    assert places(held.new_tensor([1.0])) == ["cuda:1"]


def test_what_it_holds_meets_others_as_any_tensor_does() -> None:
    held = Held(ones(3))
    assert (held + 1).inner.tolist() == (ones(3) + held).inner.tolist() == [2, 2, 2]
    assert places((held * torch.tensor(2.0)).inner) == ["cuda:0"]
    for other in (torch.ones(3), Held(torch.ones(3))):
        for call in (lambda a, b: a + b, lambda a, b: b + a):
            with pytest.raises(RuntimeError) as refusal:
                call(held, other)
            assert str(refusal.value) == (
                "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
            )


def test_gradients_go_back_to_where_it_is() -> None:
    for move in (lambda x: x * 2, lambda x: x.cpu() * 2, lambda x: x.to("cuda:1") * 2):
        held = Held(ones(3)).requires_grad_()
        move(held).sum().backward()
        assert isinstance(held.grad, Held)
        assert (*places(held.grad, held.grad.inner), held.grad.inner.tolist()) == ("cuda:0", "cuda:0", [2.0] * 3)


def test_as_a_weight_it_moves_with_its_module() -> None:
    layer = nn.Linear(3, 4)
    layer.weight = nn.Parameter(quantized("cpu"), requires_grad=False)
    for place in ("cuda:0", "cuda:1", "cpu"):
        layer.to(place)
        weight: Any = layer.weight
        assert places(weight, weight.numbers, weight.scale, layer.bias) == [place] * 4
        assert places(layer(ones(2, 3, device=place))) == [place]
    with pytest.raises(RuntimeError) as refusal:
        F.linear(ones(2, 3), quantized("cpu"))
    assert str(refusal.value) == (
        "Expected all tensors to be on the same device, but got mat2 is on cpu, different from other tensors on "
        "cuda:0 (when checking argument in method wrapper_CUDA_mm)"
    )


def test_it_is_trained_and_autocast() -> None:
    layer = nn.Linear(3, 4).cuda()
    layer.weight = nn.Parameter(Held(layer.weight.detach()))
    optimizer = torch.optim.AdamW(layer.parameters())
    layer(ones(2, 3)).sum().backward()
    optimizer.step()
    weight: Any = layer.weight
    assert places(weight.grad, weight.inner) == ["cuda:0", "cuda:0"]
    with torch.autocast("cuda"):
        assert torch.mm(Held(ones(2, 2)), ones(2, 2)).dtype is torch.float16


def test_a_file_of_it_is_loaded_where_the_program_says() -> None:
    for place in ("cuda:0", "cuda:1", "cpu"):
        file = io.BytesIO()
        torch.save(Held(ones(3)), file)
        file.seek(0)
        loaded = torch.load(file, map_location=place, weights_only=False)
        assert places(loaded, loaded.inner) == [place, place]


def test_its_storage_is_on_the_gpu_and_shared_already() -> None:
    held = Held(ones(3, device="cuda:1"))
    assert str(held.untyped_storage().device) == "cuda:1"
    assert held.share_memory_() is held  # nothing is done on a GPU


def test_what_it_holds_is_pinned() -> None:
    x = Held(torch.ones(3))
    assert not x.is_pinned()
    pinned = x.pin_memory()
    assert type(pinned) is Held
    assert pinned.is_pinned()
    assert pinned.inner.is_pinned()
    assert not x.is_pinned()
    assert pinned.pin_memory() is pinned
    assert not Held(torch.ones(3, device="cuda")).is_pinned()
