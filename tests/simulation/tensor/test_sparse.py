"""Sparse and quantized tensors and strided nested ones work on a simulated GPU; what does not says so in a sentence."""

import copy
import io
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from samedevice import simulate_cuda

HOME = "cuda:1"


def coo(device: str) -> torch.Tensor:
    indices, values = torch.tensor([[0, 1, 1], [2, 0, 2]], device=device), torch.tensor([3.0, 4, 5], device=device)
    return torch.sparse_coo_tensor(indices, values, (2, 3))


def csr(device: str) -> torch.Tensor:
    rows, columns = torch.tensor([0, 1, 3], device=device), torch.tensor([2, 0, 2], device=device)
    return torch.sparse_csr_tensor(rows, columns, torch.tensor([1.0, 2, 3], device=device), (2, 3))


def ones(device: str) -> torch.Tensor:
    return torch.ones(3, 4, device=device)


def reloaded(tensor: torch.Tensor) -> Any:
    file = io.BytesIO()
    torch.save(tensor, file)
    file.seek(0)
    return torch.load(file)


def gradient_of_values(device: str) -> Any:
    values = torch.tensor([3.0, 4], device=device, requires_grad=True)
    matrix = torch.sparse_coo_tensor(torch.tensor([[0, 1], [2, 0]], device=device), values, (2, 3))
    torch.sparse.mm(matrix, ones(device)).sum().backward()
    return values.grad


def gradient_of_embedding(device: str, kind: Any = nn.Embedding) -> Any:
    torch.manual_seed(0)
    layer = kind(5, 3, sparse=True).to(device)
    for _ in range(2):
        layer(torch.tensor([[0, 2, 2, 4]], device=device)).sum().backward()
    assert layer.weight.grad.layout == torch.sparse_coo
    return layer.weight.grad


def buffered(device: str) -> Any:
    module = nn.Module()
    module.register_buffer("matrix", coo("cpu"))
    return module.to(device).matrix @ ones(device)


CASES: dict[str, Callable[[str], Any]] = {
    "made": coo,
    "made from lists": lambda d: torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2), device=d),
    "made from the CPU's": lambda d: torch.sparse_coo_tensor(torch.tensor([[0]]), torch.ones(1), (1,), device=d),
    "to_sparse": lambda d: ones(d).to_sparse(),
    "values": lambda d: coo(d).coalesce().values(),
    "indices": lambda d: coo(d).coalesce().indices(),
    "sparse.mm": lambda d: torch.sparse.mm(coo(d), ones(d)),
    "sum": lambda d: torch.sparse.sum(coo(d), 0),
    "added": lambda d: coo(d) + coo(d),
    "masked": lambda d: ones(d)[:2, :3].sparse_mask(coo(d).coalesce()),
    "moved": lambda d: coo(d).cpu().to(d),
    "a buffer": buffered,
    "deepcopy": lambda d: copy.deepcopy(coo(d)),
    "a file": lambda d: reloaded(coo(d)),
    "csr": csr,
    "csr, moved": lambda d: csr(d).cpu().to(d),
    "csr, multiplied": lambda d: csr(d) @ ones(d),
    "csr, its rows": lambda d: csr(d).crow_indices(),
    "csr, a file": lambda d: reloaded(csr(d)),
    "bsr": lambda d: torch.ones(4, 4, device=d).to_sparse_bsr((2, 2)),
    "gradient of values": gradient_of_values,
    "gradient of an embedding": gradient_of_embedding,
    "gradient of a bag": lambda d: gradient_of_embedding(d, nn.EmbeddingBag),
    "quantized": lambda d: torch.quantize_per_tensor(ones(d), 0.1, 0, torch.qint8).dequantize(),
    "nested": lambda d: torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], device=d).to_padded_tensor(0),
    "nested, of its tensors": lambda d: torch.nested.as_nested_tensor([ones(d), ones(d)[:2]]).to_padded_tensor(0),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore")
def test_they_have_the_cpus_values_on_the_gpu(case: str) -> None:
    expected = CASES[case]("cpu")
    with simulate_cuda(devices=2):
        got = CASES[case](HOME)
        assert (str(got.device), got.layout) == (HOME, expected.layout)
        back = got.cpu()
        assert back.device.type == "cpu"
        torch.testing.assert_close(back.to_dense(), expected.to_dense())


@pytest.mark.filterwarnings("ignore")
def test_a_nested_tensor_is_where_the_first_of_its_tensors_is(two_gpus: None) -> None:
    """torch/nested/__init__.py, nested_tensor: the device is that of the leftmost tensor, unless one is named."""
    x = torch.ones(2, 3, device="cuda:1", requires_grad=True)
    assert torch.nested.nested_tensor([x, x]).device == torch.device("cuda:1")
    assert torch.nested.nested_tensor([x, x], device="cpu").device == torch.device("cpu")
    assert torch.nested.nested_tensor([torch.ones(2)]).device == torch.device("cpu")


@pytest.mark.filterwarnings("ignore")
def test_a_nested_tensor_that_has_a_gradient_on_cuda_says_so(two_gpus: None) -> None:
    x, layers = torch.ones(2, 3, device="cuda"), nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.LayerNorm(4)).cuda()
    nested = torch.nested.nested_tensor([x, x[:1]])
    for make in (
        lambda: layers(nested),
        lambda: layers(nested) * 2,
        lambda: layers(nested).half(),
        lambda: torch.nested.as_nested_tensor([x.clone().requires_grad_(), x]),
        lambda: torch.nested.nested_tensor([x, x], requires_grad=True),
    ):
        made = make()
        assert made.requires_grad and made.device == torch.device("cuda:0") and type(made) == torch.Tensor  # noqa: E721
        assert not made.detach().requires_grad and not torch.zeros_like(made).requires_grad
    assert torch.nested.nested_tensor([x, x], requires_grad=True).is_leaf and not layers(nested).is_leaf
    with torch.no_grad():
        assert not layers(nested).requires_grad
        assert torch.equal(layers(nested).to_padded_tensor(0)[0], layers(x))
    assert not nested.requires_grad_(False).requires_grad
    assert torch.nested.as_nested_tensor([x, x]).device == torch.device("cuda:0")


@pytest.mark.filterwarnings("ignore")
def test_a_gradient_that_comes_to_a_nested_tensor_is_refused_in_one_sentence(two_gpus: None) -> None:
    x, layer = torch.ones(2, 3, device="cuda"), torch.nn.Linear(3, 4).cuda()
    nested = torch.nested.nested_tensor([x, x[:1]])
    for place, compute in (
        ("cuda:0", lambda: layer(nested).to_padded_tensor(0)),
        ("cuda:0", lambda: layer(nested).unbind()[1]),
        ("cuda:0", lambda: layer(nested)[0]),
        ("cpu", lambda: layer(nested).cpu().unbind()[0]),
        ("cuda:1", lambda: layer(nested).to("cuda:1").to_padded_tensor(0)),
        ("cpu", lambda: torch.nested.as_nested_tensor([x.clone().requires_grad_(), x], device="cpu").unbind()[0]),
        ("cuda:0", lambda: torch.nested.nested_tensor([torch.ones(2)], requires_grad=True).cuda().unbind()[0]),
    ):
        dense = compute()
        assert str(dense.device) == place and dense.requires_grad
        with pytest.raises(NotImplementedError, match="does not simulate gradients of nested tensors on a GPU"):
            (dense * 2).sum().backward()


@pytest.mark.filterwarnings("ignore")
def test_a_nested_tensor_on_a_gpu_cannot_be_made_to_require_a_gradient(two_gpus: None) -> None:
    """Where PyTorch's autograd asked such a tensor for its sizes, the process ended."""
    nested = torch.nested.nested_tensor([torch.ones(2, 3, device="cuda")])
    for compute in (
        lambda: nested.requires_grad_(),
        lambda: nested.detach().requires_grad_(True),
        lambda: setattr(nested, "requires_grad", True),
        lambda: torch.nn.Parameter(nested),
    ):
        with pytest.raises(NotImplementedError, match="does not simulate gradients of nested tensors on a GPU"):
            compute()


@pytest.mark.filterwarnings("ignore")
def test_what_cuda_refuses_of_nested_tensors_comes_before_their_gradients(two_gpus: None) -> None:
    nested = torch.nested.nested_tensor([torch.ones(2, 4), torch.ones(3, 4)], device="cuda")
    for layer, text in (
        (nn.Linear(3, 5).cuda(), "Shape mismatch for NestedTensor Linear: "),
        (nn.Linear(4, 5), "Expected all tensors to be on the same device, but got weight is on cpu, "),
        (
            nn.Conv1d(4, 2, 1).cuda(),
            "Could not run 'aten::convolution' with arguments from the 'NestedTensorCUDA' backend",
        ),
    ):
        with pytest.raises((RuntimeError, NotImplementedError)) as refusal:
            layer(nested)
        assert str(refusal.value).startswith(text)


@pytest.mark.filterwarnings("ignore")
def test_nested_tensors_of_the_cpu_have_gradients_in_a_simulation(two_gpus: None) -> None:
    x = torch.ones(2, 3, requires_grad=True)
    (nn.Linear(3, 4)(torch.nested.as_nested_tensor([x, x])) * 2).to_padded_tensor(0).sum().backward()
    assert x.grad is not None and type(x.grad) is torch.Tensor


def jagged(device: str, **options: Any) -> torch.Tensor:
    values, offsets = torch.ones(6, 3, device=device, **options), torch.tensor([0, 2, 6], device=device)
    return torch.nested.nested_tensor_from_jagged(values, offsets)


def test_jagged_nested_tensors_are_where_their_values_are(two_gpus: None) -> None:
    x = jagged("cuda:1")
    assert x.is_cuda and not x.is_cpu and not jagged("cpu").is_cuda
    moved = [x, x.sin(), x * 2, x + x, x.values(), x.offsets(), x.sum(1), jagged("cpu").to(HOME), x.unbind()[0]]
    moved += [torch.ones(3, device=HOME) * x, torch.ones_like(x), torch.empty_like(jagged("cpu"), device=HOME)]
    moved += [torch.nested.as_nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], layout=torch.jagged, device=HOME)]
    assert {str(tensor.device) for tensor in moved} == {HOME}
    assert {str(tensor.device) for tensor in (x.cpu(), x.cpu().offsets(), torch.ones_like(x, device="cpu"))} == {"cpu"}
    assert torch.equal(x.to_padded_tensor(0.0).cpu(), jagged("cpu").to_padded_tensor(0.0))


def test_gradients_of_jagged_nested_tensors_go_back_where_they_came_from(two_gpus: None) -> None:
    values, layer = torch.ones(6, 3, requires_grad=True), nn.Linear(3, 4).cuda()
    x = torch.nested.nested_tensor_from_jagged(values, torch.tensor([0, 2, 6])).cuda()
    layer(x).sum().backward()
    assert (str(values.grad.device), str(layer.weight.grad.device)) == ("cpu", "cuda:0")
    assert torch.equal(layer.weight.grad.cpu(), torch.full((4, 3), 6.0))


JAGGED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "itself elsewhere": (
        lambda x: x + x.cpu(),
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
    ),
    "a vector": (
        lambda x: torch.ones(3) * x,
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
    ),
    "a layer": (
        lambda x: nn.Linear(3, 5)(x),
        "Expected all tensors to be on the same device, but got mat1 is on cuda:0, different from other tensors on cpu "
        "(when checking argument in method wrapper_CUDA_addmm)",
    ),
    "a matrix": (
        lambda x: x @ torch.ones(3, 5),
        "Expected all tensors to be on the same device, but got mat2 is on cpu, different from other tensors on cuda:0 "
        "(when checking argument in method wrapper_CUDA_mm)",
    ),
}


@pytest.mark.parametrize("case", JAGGED)
def test_a_jagged_nested_tensor_and_one_elsewhere_are_refused_as_by_cuda(case: str, two_gpus: None) -> None:
    compute, text = JAGGED[case]
    with pytest.raises(RuntimeError) as caught:
        compute(jagged("cuda"))
    assert str(caught.value) == text


APART: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "coo": (
        lambda indices, values: torch.sparse_coo_tensor(indices[None], values, (2,)),
        "Expected all tensors to be on the same device, but got values is on {values}, different from other tensors on "
        "{indices} (when checking argument in method wrapper_SparseCUDA___sparse_coo_tensor_with_dims_and_tensors)",
    ),
    "coo without a size": (
        lambda indices, values: torch.sparse_coo_tensor(indices[None], values),
        "Expected all tensors to be on the same device, but got values is on {values}, different from other tensors on "
        "{indices} (when checking argument in method wrapper_SparseCUDA___sparse_coo_tensor_with_dims_and_tensors)",
    ),
    "crow_indices": (
        lambda indices, values: torch.sparse_csr_tensor(torch.tensor([0, 1, 2]).to(indices.device), indices, values),
        "Values and crow_indices need to be on the same device.",
    ),
    "row_indices": (
        lambda indices, values: torch.sparse_csc_tensor(torch.tensor([0, 1, 2]).to(values.device), indices, values),
        "Values and row_indices need to be on the same device.",
    ),
    "the layout by name": (
        lambda indices, values: torch.sparse_compressed_tensor(
            torch.tensor([0, 1, 2]).to(values.device), indices, values, layout=torch.sparse_csr
        ),
        "Values and col_indices need to be on the same device.",
    ),
}


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("places", [("cpu", "cuda:0"), ("cuda:0", "cpu"), ("cuda:0", "cuda:1")])
@pytest.mark.parametrize("case", APART)
def test_parts_of_a_sparse_tensor_on_two_devices_are_refused_as_by_cuda(case: str, places: tuple[str, str]) -> None:
    make, text = APART[case]
    with simulate_cuda(2):
        indices, values = torch.tensor([0, 1], device=places[0]), torch.ones(2, device=places[1])
        with pytest.raises(RuntimeError) as caught:
            make(indices, values)
    assert str(caught.value) == text.format(indices=places[0], values=places[1])


@pytest.mark.filterwarnings("ignore:Sparse")
def test_a_device_or_a_list_brings_the_parts_of_a_sparse_tensor_together() -> None:
    with simulate_cuda(2):
        values = torch.ones(2, device=HOME)
        made = [
            torch.sparse_coo_tensor([[0, 1]], values, (2,)),
            torch.sparse_coo_tensor(torch.tensor([[0, 1]]), values, (2,), device=HOME),
            torch.sparse_csr_tensor([0, 1, 2], [0, 1], values, (2, 2)),
            torch.sparse_csr_tensor(torch.tensor([0, 1, 2]), torch.tensor([0, 1]), values, (2, 2), device=HOME),
        ]
        assert [str(tensor.device) for tensor in made] == [HOME] * 4


def test_a_jagged_nested_tensor_is_saved_and_pinned_by_its_values(two_gpus: None) -> None:
    file = io.BytesIO()
    torch.save(jagged("cuda:1"), file)
    for where, device in ((None, HOME), ("cpu", "cpu")):
        file.seek(0)
        assert str(torch.load(file, map_location=where, weights_only=False).device) == device
    assert jagged("cpu").pin_memory().is_pinned() and not jagged("cuda").is_pinned()
    assert jagged("cuda").type() == "torch.cuda.FloatTensor"


@pytest.mark.parametrize("options", [{"mode": "sum"}, {"mode": "mean"}, {"mode": "sum", "padding_idx": 0}], ids=str)
@pytest.mark.parametrize("optimizer", [torch.optim.SparseAdam, torch.optim.SGD])
def test_sparse_gradients_of_an_embedding_bag_are_the_cpus(options: dict[str, Any], optimizer: Any) -> None:
    with simulate_cuda(devices=2):
        expected = nn.EmbeddingBag(4, 2, sparse=True, **options)
        found = copy.deepcopy(expected).to(HOME)
        for bag in (expected, found):
            home = bag.weight.device
            optimizer_of = optimizer(list(bag.parameters()), lr=0.1)
            bag(torch.tensor([0, 1, 1, 3], device=home), torch.tensor([0, 2], device=home)).sum().backward()
            assert bag.weight.grad is not None
            assert (bag.weight.grad.layout, bag.weight.grad.device) == (torch.sparse_coo, home)
            optimizer_of.step()
        assert torch.equal(found.weight.grad.to_dense().cpu(), expected.weight.grad.to_dense())  # type: ignore[union-attr]
        assert torch.equal(found.weight.detach().cpu(), expected.weight.detach())


def test_sparse_halves_are_added_in_place() -> None:
    with simulate_cuda(devices=2):
        x = coo(HOME).half()
        x.add_(x, alpha=2)
        assert (x.dtype, x.to_dense().tolist()) == (torch.float16, [[0, 0, 9], [12, 0, 15]])
        x.sub_(coo(HOME).half())
        assert x.to_dense().tolist() == [[0, 0, 6], [8, 0, 10]]


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_quantized_factories_make_tensors_on_a_gpu() -> None:
    with simulate_cuda(devices=2):
        x = torch._empty_affine_quantized((2,), scale=2.0, zero_point=3, dtype=torch.qint8, device=HOME)
        assert (str(x.device), x.dtype, x.q_scale(), x.q_zero_point()) == (HOME, torch.qint8, 2.0, 3)
        assert str(x.dequantize().device) == HOME
        scales, zeros = torch.ones(2), torch.zeros(2)
        y = torch._empty_per_channel_affine_quantized(
            (2, 2), scales=scales, zero_points=zeros, axis=0, dtype=torch.quint8, device=HOME
        )
        assert (str(y.device), str(y.q_per_channel_scales().device)) == (HOME, HOME)
        file = io.BytesIO()
        torch.save(torch.quantize_per_tensor(torch.ones(2), 1.0, 0, torch.quint8), file)
        file.seek(0)
        assert str(torch.load(file, map_location=HOME).device) == HOME
