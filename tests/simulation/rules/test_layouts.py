"""Sparse and nested tensors that meet others: each text is what PyTorch 2.13's CUDA build says."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

SAME = "Expected all tensors to be on the same device, but "
SIZES = "Expected both self and other to be nested, but got a nested self and non-nested other"
FLOAT = "torch.cuda.FloatTensor"


@pytest.fixture(autouse=True)
def simulation(two_gpus: None) -> None: ...


def accused(argument: str, device: str, reference: str, method: str) -> str:
    return (
        f"{SAME}got {argument} is on {device}, different from other tensors on {reference} "
        f"(when checking argument in method wrapper_{method})"
    )


def found(first: str, second: str) -> str:
    return f"{SAME}found at least two devices, {first} and {second}!"


def not_equal(expression: str) -> str:
    return (
        f"Expected cuda::check_device({{{expression}}}) to be true, but got false.  (Could this error message be "
        "improved?  If so, please report an enhancement request to PyTorch.)"
    )


def g(*shape: int) -> torch.Tensor:
    return torch.ones(shape, device="cuda:0")


def h(*shape: int) -> torch.Tensor:
    return torch.ones(shape, device="cuda:1")


def c(*shape: int) -> torch.Tensor:
    return torch.ones(shape)


def coo(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to_sparse()


def csr(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to_sparse_csr()


def nested(tensor: torch.Tensor) -> torch.Tensor:
    return torch.nested.nested_tensor([tensor, tensor[:1]])


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    # products: the sparse kernel's generated check
    "sparse by dense": (lambda: coo(g(2, 2)) @ c(2, 2), accused("mat2", "cpu", "cuda:0", "SparseCUDA__mm")),
    "sparse of the CPU": (lambda: coo(c(2, 2)) @ g(2, 2), accused("mat2", "cuda:0", "cpu", "SparseCUDA__mm")),
    "dense by sparse": (lambda: g(2, 2) @ coo(h(2, 2)), accused("mat2", "cuda:1", "cuda:0", "SparseCUDA__mm")),
    "compressed": (lambda: csr(g(2, 2)) @ c(2, 2), accused("mat2", "cpu", "cuda:0", "SparseCsrCUDA__mm")),
    "COO by compressed": (
        lambda: coo(g(2, 2)) @ csr(c(2, 2)),
        accused("mat2", "cpu", "cuda:0", "SparseCsrCUDA__mm"),
    ),
    "sparse.mm": (
        lambda: torch.sparse.mm(coo(c(2, 2)), g(2, 2)),
        accused("mat1", "cpu", "cuda:0", "SparseCUDA__addmm"),
    ),
    "sparse.mm, the dense one first": (
        lambda: torch.sparse.mm(g(2, 2), coo(c(2, 2))),
        accused("mat1", "cpu", "cuda:0", "SparseCUDA__addmm"),
    ),
    "sparse.mm, compressed": (
        lambda: torch.sparse.mm(csr(g(2, 2)), c(2, 2)),
        accused("mat1", "cuda:0", "cpu", "SparseCsrCUDA__addmm"),
    ),
    "sparse by sparse": (
        lambda: torch.sparse.mm(coo(g(2, 2)), coo(c(2, 2))),
        accused("other", "cpu", "cuda:0", "SparseCUDA___sparse_sparse_matmul"),
    ),
    "addmm": (
        lambda: torch.sparse.addmm(g(2, 2), coo(g(2, 2)), c(2, 2)),
        accused("mat2", "cpu", "cuda:0", "SparseCUDA__addmm"),
    ),
    "mm into": (
        lambda: torch.mm(coo(g(2, 2)), g(2, 2), out=c(2, 2)),
        accused("self", "cuda:0", "cpu", "SparseCUDA_out_mm_out"),
    ),
    "bmm": (
        lambda: torch.bmm(coo(g(1, 2, 2)), c(1, 2, 2)),
        accused("mat2", "cpu", "cuda:0", "SparseCUDA__bmm"),
    ),
    "mv": (lambda: coo(g(2, 2)) @ c(2), accused("vec", "cpu", "cuda:0", "SparseCUDA__mv")),
    "compressed mv": (
        lambda: csr(g(2, 2)) @ c(2),
        accused("mat", "cuda:0", "cpu", "SparseCsrCUDA_out_addmv_out"),
    ),
    "compressed addmv": (
        lambda: torch.addmv(g(2), csr(g(2, 2)), c(2)),
        accused("self", "cuda:0", "cpu", "SparseCsrCUDA_out_addmv_out"),
    ),
    "hspmm": (lambda: torch.hspmm(coo(g(2, 2)), c(2, 2)), accused("mat2", "cpu", "cuda:0", "SparseCUDA__hspmm")),
    "smm": (
        lambda: torch.smm(coo(g(2, 2)), c(2, 2)),
        accused("mat2", "cpu", "cuda:0", "SparseCUDA_out_sspaddmm_out"),
    ),
    "linear": (lambda: F.linear(c(2, 2), coo(g(2, 2))), accused("mat2", "cuda:0", "cpu", "SparseCUDA__mm")),
    "sampled_addmm": (
        lambda: torch.sparse.sampled_addmm(csr(g(2, 2)), c(2, 2), g(2, 2)),
        accused("mat1", "cpu", "cuda:0", "SparseCsrCUDA__sparse_sampled_addmm"),
    ),
    "spsolve": (
        lambda: torch.sparse.spsolve(csr(g(2, 2)), c(2)),
        accused("B", "cpu", "cuda:0", "SparseCsrCUDA___spsolve"),
    ),
    "triangular_solve": (
        lambda: torch.triangular_solve(c(2, 2), csr(g(2, 2))),
        "Expected b and A to be on the same device, but found b on cpu and A on cuda:0 instead.",
    ),
    "sparse_mask": (
        lambda: g(2, 2).sparse_mask(coo(c(2, 2))),
        accused("mask", "cpu", "cuda:0", "SparseCUDA__sparse_mask"),
    ),
    "compressed sparse_mask": (
        lambda: c(2, 2).sparse_mask(csr(g(2, 2))),
        accused("mask", "cuda:0", "cpu", "SparseCsrCUDA__sparse_mask"),
    ),
    "cat": (
        lambda: torch.cat([coo(g(2, 2)), coo(c(2, 2))]),
        accused("tensors", "cpu", "cuda:0", "SparseCUDA__cat"),
    ),
    "index_select": (
        lambda: coo(g(2, 2)).index_select(0, torch.tensor([0])),
        accused("index", "cpu", "cuda:0", "SparseCUDA__index_select"),
    ),
    # sums and products element by element: checks of the kernels themselves
    "dense and sparse": (
        lambda: g(2, 2) + coo(c(2, 2)),
        "add: expected 'other' to be a CUDA tensor, but got a CPU tensor",
    ),
    "dense of the CPU and sparse": (
        lambda: c(2, 2) + coo(g(2, 2)),
        "add: expected 'self' to be a CUDA tensor, but got a CPU tensor",
    ),
    "dense and sparse into": (
        lambda: torch.add(g(2, 2), coo(g(2, 2)), out=c(2, 2)),
        "add: expected 'out' to be a CUDA tensor, but got a CPU tensor",
    ),
    "dense and sparse of two GPUs": (lambda: g(2, 2) + coo(h(2, 2)), not_equal("sparse, r_, dense")),
    "sparse and sparse": (lambda: coo(g(2, 2)) + coo(c(2, 2)), "add: expected 'other' to be CUDA, but got CPU"),
    "in place": (lambda: coo(c(2, 2)).sub_(coo(g(2, 2))), "add: expected 'self' to be CUDA, but got CPU"),
    "sparse of two GPUs": (lambda: coo(g(2, 2)) - coo(h(2, 2)), not_equal("r_, t, src")),
    "sparse and dense": (
        lambda: coo(g(2, 2)) + c(2, 2),
        "add(sparse, dense) is not supported. Use add(dense, sparse) instead.",
    ),
    "a list": (
        lambda: torch._foreach_add([coo(g(2, 2))], [coo(c(2, 2))]),
        "add: expected 'other' to be CUDA, but got CPU",
    ),
    "a number minus sparse": (
        lambda: 1 - coo(g(2, 2)),
        "add: expected 'self' to be a CUDA tensor, but got a CPU tensor",
    ),
    "compressed and compressed": (
        lambda: csr(g(2, 2)) + csr(c(2, 2)),
        "add: expected 'other' to be CUDA tensor, but got tensor on device: cpu",
    ),
    "compressed of the CPU and dense": (
        lambda: csr(c(2, 2)) + g(2, 2),
        "add: expected 'other' to be a CUDA tensor, but got tensor on device: cpu",
    ),
    "times": (lambda: coo(g(2, 2)) * coo(c(2, 2)), "mul: expected 'other' to be CUDA, but got CPU"),
    "the CPU's times": (lambda: coo(c(2, 2)) * coo(g(2, 2)), "mul: expected 'out' to be CUDA, but got CPU"),
    "times, two GPUs": (lambda: coo(g(2, 2)) * coo(h(2, 2)), not_equal("r_, t_, src_")),
    "times dense": (
        lambda: coo(g(2, 2)) * c(2, 2),
        "indices should be either on cpu or on the same device as the indexed tensor (cpu)",
    ),
    "times dense of the wrong size": (
        lambda: coo(g(2, 2)) * c(3),
        "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 1",
    ),
    "times a number of another GPU": (lambda: coo(g(2, 2)) * h(), found("cuda:1", "cuda:0")),
    "the CPU's times a number": (lambda: coo(c(2, 2)) * g(), "mul: expected 'out' to be CUDA, but got CPU"),
    "compressed times": (lambda: csr(g(2, 2)) * csr(c(2, 2)), "mul: expected 'other' to be CUDA, but got CPU"),
    "compressed times dense": (
        lambda: csr(g(2, 2)) * c(2, 2),
        accused("mask", "cuda:0", "cpu", "SparseCsrCUDA__sparse_mask"),
    ),
    "divided by a number": (lambda: coo(c(2, 2)) / g(), found("cuda:0", "cpu")),
    "divided by a matrix": (
        lambda: coo(g(2, 2)) / c(2, 2),
        "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape [2, 2] for divisor)",
    ),
    "copied into dense": (
        lambda: c(2, 2).copy_(coo(g(2, 2))),
        "copy_() between dense and sparse Tensors is not implemented! Found self type = torch.FloatTensor and src "
        "type = torch.cuda.sparse.FloatTensor",
    ),
    "compressed and compressed of other sizes": (
        lambda: csr(g(2, 2)) + csr(c(3, 3)),
        "torch.add: Expected input tensors to have the same shape, but got tensor `self` with shape [2, 2] and tensor "
        "`other` with shape [3, 3]",
    ),
    "compressed mv of another size": (
        lambda: csr(g(2, 2)) @ c(3),
        "size mismatch, got input (2), mat (2x2), vec (3)",
    ),
    # on one GPU: what the kernels of the CPU do, or say otherwise
    "spsolve on a GPU": (
        lambda: torch.sparse.spsolve(csr(g(2, 2)), g(2)),
        "Calling linear solver with sparse tensors requires compiling PyTorch with CUDA cuDSS and is not supported in "
        "ROCm build.",
    ),
    "sspaddmm on a GPU": (
        lambda: torch.sspaddmm(coo(g(2, 2)), coo(g(2, 2)), g(2, 2)),
        "NYI: CUDA sspaddmm is not implemented",
    ),
    "addmm of three layouts": (
        lambda: coo(g(2, 2)) @ csr(g(2, 2)),
        "addmm: computation on CUDA is not implemented for Sparse + Sparse @ SparseCsr",
    ),
    "a dense product of compressed": (
        lambda: torch.addmm(g(2, 2), csr(g(2, 2)), csr(g(2, 2))),
        "addmm: computation on CUDA is not implemented for Strided + SparseCsr @ SparseCsr",
    ),
    "sizes": (
        lambda: coo(g(2, 2)) + coo(g(3, 3)),
        "add: expected 'self' and 'other' to have same size, but [2, 2] != [3, 3]",
    ),
    "indices of a sum": (
        lambda: (coo(g(2, 2)) + coo(g(2, 2))).indices(),
        "Cannot get indices on an uncoalesced tensor, please call .coalesce() first",
    ),
    "numpy": (lambda: coo(g(2)).numpy(), "can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first."),
    "tolist": (
        lambda: csr(g(2, 2)).tolist(),
        "to(options) doesn't support converting to a different layout, but got self.layout being SparseCsr and "
        "options.layout set as Strided",
    ),
    "as the type of a dense one": (
        lambda: coo(g(2, 2)).type_as(c(1)),
        "to(options) doesn't support converting to a different layout, but got self.layout being Sparse and "
        "options.layout set as Strided",
    ),
    "pin_memory": (
        lambda: csr(g(2, 2)).pin_memory(),
        f"cannot pin 'SparseCsr{FLOAT}' only dense CPU tensors can be pinned",
    ),
    "pinned when made": (
        lambda: torch.sparse_coo_tensor([[0]], g(1), (2,), pin_memory=True),
        f"cannot pin '{FLOAT}' only dense CPU tensors can be pinned",
    ),
    "the type of a compressed one": (lambda: csr(g(2, 2)).type(), "Unimplemented backend SparseCsrCUDA"),
    # parts apart
    "parts by name": (
        lambda: torch.sparse_csr_tensor(
            crow_indices=torch.tensor([0, 1]).cuda(), col_indices=torch.tensor([0]).cuda(), values=c(1), size=(1, 2)
        ),
        "Values and crow_indices need to be on the same device.",
    ),
    "parts whose invariants are checked": (
        lambda: torch.sparse_csc_tensor([0, 1], torch.tensor([0]), g(1), (2, 1), check_invariants=True),
        f"{SAME}found at least two devices, cuda:0 and cpu!",
    ),
    # nested tensors
    "nested of two devices": (
        lambda: torch.nested.nested_tensor([g(2), c(3)]),
        accused("tensors", "cpu", "cuda:0", "CUDA_cat"),
    ),
    "nested of two devices, on one": (
        lambda: torch.nested.nested_tensor([c(2), g(3)], device="cuda"),
        accused("tensors", "cuda:0", "cpu", "CUDA_cat"),
    ),
    "nested of numbers too": (
        lambda: torch.nested.nested_tensor([g(2), [1.0]]),
        accused("tensors", "cpu", "cuda:0", "CUDA_cat"),
    ),
    "as nested": (
        lambda: torch.nested.as_nested_tensor([g(2), h(3)], device="cpu"),
        accused("tensors", "cuda:1", "cuda:0", "CUDA_cat"),
    ),
    "nested of two ranks": (
        lambda: torch.nested.nested_tensor([g(2), c(3, 2)]),
        "All Tensors given to nested_tensor must have the same dimension. Found dimension 2 for Tensor at index 1 and "
        "dimension 1 for Tensor at index 0.",
    ),
    "jagged of two devices": (
        lambda: torch.nested.nested_tensor([g(2), c(3)], layout=torch.jagged),
        "When constructing a nested tensor, all tensors in list must be on the same device",
    ),
    "nested and nested": (lambda: nested(c(2, 3)) + nested(g(2, 3)), found("cuda:0", "cpu")),
    "nested in place": (lambda: nested(g(2, 3)).mul_(nested(h(2, 3))), found("cuda:0", "cuda:1")),
    "nested and nested of other sizes": (
        lambda: nested(c(2, 3)) + nested(g(2, 4)),
        "add does not support broadcasting when given a NestedTensor",
    ),
    "nested and nested of other strides, in place": (
        lambda: nested(g(3, 3)).transpose(1, 2).mul_(torch.nested.nested_tensor([c(3, 3), c(3, 1)])),
        "mul_ requires strides to match when given NestedTensors",
    ),
    "the CPU's nested and a number": (lambda: nested(c(2, 3)) * g(), found("cuda:0", "cpu")),
    "nested and dense": (lambda: nested(g(2, 3)) * c(2, 1, 3), SIZES),
    "nested and dense that does not fit": (lambda: nested(g(2, 3)) * g(3), f"{SIZES} for op: mul."),
    "nested divided by dense": (
        lambda: nested(g(2, 3)) / g(2, 1, 3),
        "Unsupported nested dense elementwise op: div.",
    ),
    "a layer of the CPU": (
        lambda: nn.Linear(3, 4).requires_grad_(False)(nested(g(2, 3))),
        accused("weight", "cpu", "cuda:0", "NestedTensorCUDA__linear"),
    ),
    "nested by dense": (
        lambda: nested(g(2, 3)) @ c(3, 4),
        accused("other", "cpu", "cuda:0", "NestedTensorCUDA__matmul"),
    ),
    "nested by nested": (
        lambda: torch.bmm(nested(g(2, 2)), nested(c(2, 2))),
        accused("mat2", "cpu", "cuda:0", "NestedTensorCUDA__bmm"),
    ),
    "nested joined": (
        lambda: torch.cat([nested(g(2, 2)), nested(c(2, 2))]),
        accused("tensors", "cpu", "cuda:0", "NestedTensorCUDA__cat"),
    ),
    "nested norm": (
        lambda: F.layer_norm(nested(g(2, 3)), (3,), c(3), c(3)),
        accused("weight", "cpu", "cuda:0", "NestedTensorCUDA__native_layer_norm"),
    ),
    "nested attention": (
        lambda: F.scaled_dot_product_attention(nested(g(1, 2, 8)), nested(c(1, 2, 8)), nested(g(1, 2, 8))),
        "Expected query, key, and value to have the same device type, but got query.device: cuda:0 key.device: cpu and "
        "value.device: cuda:0 instead.",
    ),
    "nested mask": (
        lambda: nested(g(2, 3)).masked_fill(nested(c(2, 3)) > 0, 0.0),
        "expected self and mask to be on the same device, but got mask on cpu and self on cuda:0",
    ),
    "nested compared": (
        lambda: nested(g(2, 3)) == nested(c(2, 3)),
        "eq does not support nested tensor as other value.",
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", REFUSED)
def test_they_are_refused_as_by_cuda(case: str) -> None:
    compute, text = REFUSED[case]
    with pytest.raises((RuntimeError, TypeError)) as caught:
        compute()
    assert str(caught.value) == text


MISSING: dict[str, tuple[Callable[[], object], str, str]] = {
    "exp": (lambda: coo(g(2, 2)).exp(), "exp", "SparseCUDA"),
    "a comparison": (lambda: coo(g(2, 2)) == coo(c(2, 2)), "eq.Tensor", "SparseCUDA"),
    "an index": (lambda: coo(g(2, 2))[torch.tensor([0])], "index.Tensor", "SparseCUDA"),
    "like": (lambda: torch.ones_like(coo(g(2, 2))), "fill_.Scalar", "SparseCUDA"),
    "reduce, which the CPU has": (
        lambda: torch.sparse.mm(csr(g(2, 2)), g(2, 2), "sum"),
        "_sparse_mm_reduce_impl",
        "SparseCsrCUDA",
    ),
    "spdiags, which the CPU has": (
        lambda: torch.sparse.spdiags(g(1, 2), torch.tensor([0]), (2, 2)),
        "_spdiags",
        "CUDA",
    ),
    "record_stream": (
        lambda: coo(g(2)).record_stream(torch.cuda.current_stream()),
        "record_stream",
        "SparseCUDA",
    ),
    "nested sum, which the CPU has": (
        lambda: nested(g(2, 3)).sum(-1, keepdim=True),
        "sum.dim_IntList",
        "NestedTensorCUDA",
    ),
    "nested maximum": (lambda: torch.maximum(nested(g(2, 3)), nested(c(2, 3))), "maximum", "NestedTensorCUDA"),
    "nested stack": (lambda: torch.stack([nested(g(2, 3)), nested(c(2, 3))]), "stack", "NestedTensorCUDA"),
    "nested pin_memory": (lambda: nested(g(2, 3)).pin_memory(), "is_pinned", "NestedTensorCUDA"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", MISSING)
def test_what_cuda_lacks_is_refused_in_the_dispatchers_words(case: str) -> None:
    compute, operator, backend = MISSING[case]
    with pytest.raises(NotImplementedError) as caught:
        compute()
    assert str(caught.value).startswith(
        f"Could not run 'aten::{operator}' with arguments from the '{backend}' backend."
    )


ALLOWED: dict[str, tuple[Callable[[], Any], str]] = {
    "times a number of the CPU": (lambda: coo(g(2, 2)) * c(), "cuda:0"),
    "divided by a number of the CPU": (lambda: coo(g(2, 2)) / c(), "cuda:0"),
    "compressed times a number of the CPU": (lambda: csr(g(2, 2)) * c(), "cuda:0"),
    "compressed and dense of two GPUs": (lambda: csr(g(2, 2)) + h(2, 2), "cuda:1"),
    "copied": (lambda: coo(c(2, 2)).copy_(coo(g(2, 2))), "cpu"),
    "parts to the CPU": (lambda: torch.sparse_coo_tensor(torch.tensor([[0]]), g(1), (2,), device="cpu"), "cpu"),
    "parts to a GPU": (
        lambda: torch.sparse_coo_tensor(torch.tensor([[0]]).cuda(), [1.0], (2,), device="cuda:1"),
        "cuda:1",
    ),
    "parts of a compressed one": (
        lambda: torch.sparse_csr_tensor([0, 1], [0], g(1), (1, 2), device="cpu"),
        "cpu",
    ),
    "new": (lambda: coo(g(2)).new(torch.tensor([[0]]), c(1)), "cpu"),
    "nested times a number of the CPU": (lambda: c() * nested(g(2, 3)), "cuda:0"),
    "nested of another device": (lambda: torch.nested.nested_tensor([g(2), g(3)], device="cpu"), "cpu"),
    "as nested on another device": (
        lambda: torch.nested.as_nested_tensor([g(2), g(3)], torch.float64, "cuda:1"),
        "cuda:1",
    ),
    "as nested of one tensor": (lambda: torch.nested.as_nested_tensor(g(2, 3)), "cuda:0"),
    "a nested tensor's sizes": (lambda: nested(g(2, 3))._nested_tensor_size(), "cpu"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", ALLOWED)
def test_what_cuda_allows_is_where_cuda_puts_it(case: str) -> None:
    compute, device = ALLOWED[case]
    assert str(compute().device) == device


@pytest.mark.filterwarnings("ignore")
def test_a_default_device_takes_the_parts_of_a_sparse_tensor_with_it() -> None:
    for device in ("cpu", "cuda:1"):
        with torch.device(device):
            assert str(torch.sparse_coo_tensor(torch.tensor([[0]]), g(1), (2,)).device) == device
            assert str(torch.sparse_csr_tensor([0, 1], [0], [1.0], (1, 2)).device) == device
            assert str(torch.sparse_coo_tensor([[0]], h(1), (2,), device="cuda:0").device) == "cuda:0"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", [coo, csr])
def test_a_sparse_tensor_of_the_cpu_is_pinned_by_its_parts(make: Callable[[torch.Tensor], torch.Tensor]) -> None:
    pinned = make(torch.eye(2)).pin_memory()
    assert pinned.is_pinned() and pinned.values().is_pinned() and not make(torch.eye(2)).is_pinned()
    assert torch.equal(pinned.cuda().to_dense().cpu(), torch.eye(2))
    assert torch.sparse_coo_tensor([[0]], [1.0], (2,), pin_memory=True).is_pinned()


def test_a_dense_tensor_broadcasts_over_a_nested_one_on_a_gpu() -> None:
    dense = torch.arange(6.0, device="cuda").reshape(2, 1, 3)
    rows = (nested(g(2, 3)) * dense).unbind()
    assert [row.tolist() for row in rows] == [[[0.0, 1.0, 2.0]] * 2, [[3.0, 4.0, 5.0]]]
    assert (nested(g(2, 3)) + dense).device == dense.device


def test_a_nested_tensor_on_a_gpu_is_printed_as_pytorch_prints_it() -> None:
    row = "  tensor([1.], device='cuda:0')"
    assert repr(torch.nested.nested_tensor([g(1)])) == f"nested_tensor([\n{row}\n], device='cuda:0')"


@pytest.mark.filterwarnings("ignore")
def test_a_mask_on_a_gpu_makes_no_masked_tensor() -> None:
    for data, mask in ((g(2), g(2) > 0), (c(2), g(2) > 0), (g(2), c(2) > 0)):
        with pytest.raises(NotImplementedError, match="keep MaskedTensor on the CPU"):
            torch.masked.masked_tensor(data, mask)


@pytest.mark.filterwarnings("ignore")
def test_attention_on_a_gpu_takes_nested_tensors_whose_heads_were_moved() -> None:
    heads = torch.nested.nested_tensor([g(2, 1, 8), g(3, 1, 8)]).transpose(1, 2)
    rows = F.scaled_dot_product_attention(heads, heads, heads).unbind()
    assert [(str(row.device), tuple(row.shape)) for row in rows] == [("cuda:0", (1, 2, 8)), ("cuda:0", (1, 3, 8))]
    assert torch.equal(rows[0], g(1, 2, 8))


def test_jagged_values_and_offsets_on_two_devices_are_refused_as_by_pytorch() -> None:
    with pytest.raises(AssertionError) as caught:
        torch.nested.nested_tensor_from_jagged(g(4, 2), torch.tensor([0, 1, 4]))
    assert str(caught.value) == (
        "values and offsets must be on the same device, but got values.device=cuda:0 and offsets.device=cpu"
    )
