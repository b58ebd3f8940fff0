"""Which kernel PyTorch's CUDA build chooses for sparse and nested tensors, and what its dispatcher says of one that
is not there."""

from collections.abc import Callable

import pytest
import torch
from layout_examples import accused, c, coo, csr, g, h, nested, refused
from torch.nn import functional as F  # noqa: N812

pytestmark = pytest.mark.usefixtures("two_gpus")

REFUSED: dict[str, tuple[Callable[[], object], str]] = {
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
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", REFUSED)
def test_they_are_refused_as_by_cuda(case: str) -> None:
    refused(*REFUSED[case])


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
