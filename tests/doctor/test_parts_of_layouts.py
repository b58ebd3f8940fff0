"""What PyTorch says of the parts of sparse and nested tensors on two devices is read as one message."""

from collections.abc import Callable

import pytest
import torch

from samedevice import explain, simulate_cuda


def values() -> torch.Tensor:
    rows, columns = (torch.tensor(x, device="cuda") for x in ([0, 1], [0]))
    return torch.sparse_csr_tensor(crow_indices=rows, col_indices=columns, values=torch.ones(1), size=(1, 2))


def two_gpus() -> torch.Tensor:
    return torch.eye(2, device="cuda:0").to_sparse() - torch.eye(2, device="cuda:1").to_sparse()


def offsets() -> torch.Tensor:
    return torch.nested.nested_tensor_from_jagged(torch.ones(4, 2, device="cuda"), torch.tensor([0, 1, 4]))


def jagged_list() -> torch.Tensor:
    rows = [torch.ones(2, 3, device="cuda"), torch.ones(4, 3)]
    return torch.nested.as_nested_tensor(rows, layout=torch.jagged)


@pytest.mark.parametrize("fails", [values, two_gpus, offsets, jagged_list])
@pytest.mark.filterwarnings("ignore")
def test_the_parts_of_a_layout(fails: Callable[[], torch.Tensor]) -> None:
    with simulate_cuda(devices=2), pytest.raises((RuntimeError, AssertionError)) as caught:
        fails()
    assert explain(caught.value).message.id == "SD126", caught.value
