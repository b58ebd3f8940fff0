"""Texts of the catalog that no lesson and no cause raises: the simulation raises each, and `explain` knows it."""

from collections.abc import Callable

import numpy
import pytest
import torch

from samedevice import explain, simulate_cuda
from samedevice.catalog import load


def here(*shape: int) -> torch.Tensor:
    return torch.ones(shape, device="cuda:0")


def step_with(lr: torch.Tensor) -> None:
    model = torch.nn.Linear(2, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr, fused=True)
    model(here(1, 2)).sum().backward()
    optimizer.step()


def compressed(layout: torch.layout) -> torch.Tensor:
    bounds, places = torch.tensor([0, 1, 2]), torch.tensor([0, 1])
    return torch.sparse_compressed_tensor(bounds, places, here(2), (2, 2), layout=layout, check_invariants=True)


# What raises it, the number of its message, and its text where the catalog does not hold it whole.
RAISED: dict[str, tuple[Callable[[], object], str, str]] = {
    "cdist": (lambda: torch.cdist(here(30, 2), torch.ones(30, 2)), "SD127", ""),
    "cdist of two GPUs": (lambda: torch.cdist(here(30, 2), here(30, 2).to("cuda:1")), "SD127", ""),
    "assert_close": (lambda: torch.testing.assert_close(here(2), torch.ones(2)), "SD128", ""),
    "assert_close of lists": (
        lambda: torch.testing.assert_close([torch.ones(2)], [here(2)]),
        "SD128",
        "The values for attribute 'device' do not match: cpu != cuda:0.\n\nThe failure occurred for item [0]",
    ),
    "a fused optimizer": (lambda: step_with(torch.tensor(0.1, device="cuda:1")), "SD129", ""),
    "autocast": (lambda: torch.autocast(torch.device("cuda:0")), "SD130", ""),  # type: ignore[arg-type]
    "a sparse tensor": (lambda: compressed(torch.sparse_csr), "SD126", ""),
    "a sparse tensor by columns": (
        lambda: compressed(torch.sparse_csc),
        "SD126",
        "device of ccol_indices (=cpu) must match device of values (=cuda:0)",
    ),
    "from_dlpack": (lambda: numpy.from_dlpack(here(2)), "SD050", ""),
    "a gradient of the other kind": (
        lambda: setattr(here(2), "grad", torch.ones(2)),
        "SD041",
        "attempting to assign a gradient with device type 'cpu' to a tensor with device type 'cuda'. Please ensure "
        "that the gradient and the tensor are on the same device",
    ),
    "a gradient of the first GPU": (lambda: setattr(here(2).to("cuda:1"), "grad", here(2)), "SD041", ""),
    "a gradient of the second GPU": (
        lambda: setattr(here(2), "grad", here(2).to("cuda:1")),
        "SD041",
        "attempting to assign a gradient located on device with index '\1' to a tensor located on device with index '",
    ),
    "a function for each number": (lambda: here(2).apply_(abs), "SD161", ""),
    "asarray without a copy": (lambda: torch.asarray(torch.ones(2), device="cuda:0", copy=False), "SD165", ""),
    "memory of the CPU for a CUDA library": (lambda: torch.ones(2).__cuda_array_interface__, "SD162", ""),
    "numbers that meta does not have": (
        lambda: torch.repeat_interleave(torch.ones(3, dtype=torch.int64, device="meta")),
        "SD163",
        "",
    ),
    "a random state on a GPU": (lambda: torch.set_rng_state(torch.get_rng_state().cuda()), "SD084", ""),
}


@pytest.mark.parametrize("case", RAISED)
def test_explain_knows_what_the_simulation_raises(case: str) -> None:
    call, number, text = RAISED[case]
    with simulate_cuda(devices=2), pytest.raises(Exception) as raised:
        call()
    diagnosis = explain(f"{type(raised.value).__name__}: {raised.value}")
    assert diagnosis.message is not None
    assert diagnosis.message.id == number
    assert str(raised.value) in ([text] if text else [x["text"] for x in load().messages[number].texts])
