"""What CUDA refuses, or words otherwise than the CPU, of sparse tensors that are all on one GPU."""

from collections.abc import Callable

import pytest
import torch
from layout_examples import FLOAT, c, coo, csr, g, refused

pytestmark = pytest.mark.usefixtures("two_gpus")

REFUSED: dict[str, tuple[Callable[[], object], str]] = {
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
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", REFUSED)
def test_they_are_refused_as_by_cuda(case: str) -> None:
    refused(*REFUSED[case])
