"""`x[index] = value` where the index or the value is not beside x. The texts are what PyTorch's CUDA build says."""

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

pytestmark = pytest.mark.usefixtures("two_gpus")

# From torch 2.15 on, C++ fills by a mask or an index at once where a Python number is assigned.
INDICES: dict[str, Callable[[str], Any]] = {
    "mask": lambda device: torch.tensor([True, False, True], device=device),
    "mask and slice": lambda device: (torch.tensor([True, False, True], device=device), slice(0, 2)),
    "mask as a list": lambda device: [True, False, True],
    "index": lambda device: torch.tensor([0, 2], device=device),
    "index as a list": lambda device: [0, 2],
    "bytes": lambda device: torch.tensor([1, 0, 1], dtype=torch.uint8, device=device),
}


@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
@pytest.mark.parametrize("value", [2, 2.0, True, torch.tensor(2.0)], ids=["int", "float", "bool", "tensor"])
@pytest.mark.parametrize(
    ("case", "device", "of_index"),
    [(case, *places) for case in INDICES for places in (("cuda", "cpu"), ("cpu", "cuda"))]
    + [(case, "cuda", "cuda:1") for case in ("mask", "mask and slice", "bytes")],  # an index from there is refused
)
def test_a_number_is_assigned_by_an_index_from_elsewhere(case: str, device: str, of_index: str, value: Any) -> None:
    x = torch.zeros(3, 2, device=device)
    x[INDICES[case](of_index)] = value
    number = float(value)
    assert (x.device.type, x.tolist()) == (device, [[number] * 2, [0, 0], [number] * 2])


def test_a_single_truth_is_an_index() -> None:
    for index in (True, torch.tensor(True), torch.tensor(True, device="cuda")):
        x = torch.zeros(2, device="cuda")
        x[index] = 2.0
        assert x.tolist() == [2, 2]


def test_a_mask_from_elsewhere_is_refused_by_masked_fill_alone() -> None:
    x, mask = torch.zeros(2, device="cuda"), torch.tensor([True, False])
    with pytest.raises(RuntimeError) as refusal:
        x.masked_fill_(mask, 2.0)
    assert str(refusal.value) == (
        "expected self and mask to be on the same device, but got mask on cpu and self on cuda:0"
    )


@pytest.mark.parametrize("value", [2.0, torch.tensor(2.0), torch.tensor([2.0])], ids=["number", "scalar", "one"])
def test_a_mask_of_bytes_on_the_cpu_is_an_index(value: Any) -> None:
    x = torch.ones(3, 2, device="cuda")
    with pytest.warns(UserWarning, match="indexing with dtype torch.uint8 is now deprecated"):
        x[torch.tensor([1, 0, 1], dtype=torch.uint8)] = value if isinstance(value, float) else value.cuda()
    assert x.tolist() == [[2, 2], [1, 1], [2, 2]]
    with pytest.raises(RuntimeError) as refusal:
        x[torch.tensor([1, 0, 1], dtype=torch.uint8, device="cuda")] = 2.0
    assert str(refusal.value) == "masked_fill only supports boolean masks, but got dtype Byte"


MASK = torch.tensor([True, False])


@pytest.mark.parametrize(
    ("of_mask", "of_value"), [("cpu", "cpu"), ("cuda", "cuda"), ("cuda:1", "cpu"), ("cpu", "cuda")]
)
def test_only_a_mask_beside_its_tensor_converts_one_value_of_the_cpu(of_mask: str, of_value: str) -> None:
    x = torch.zeros(2, device="cuda")
    x[MASK.to("cuda")] = torch.tensor(2)
    assert x.tolist() == [2, 0]
    with pytest.raises(RuntimeError) as refusal:
        x[MASK.to(of_mask)] = torch.tensor(3, device=of_value)
    assert str(refusal.value) == (
        "Index put requires the source and destination dtypes match, got Float for the destination and Long for the "
        "source."
    )
    assert x.tolist() == [2, 0]


def test_a_number_that_is_too_large_is_refused_as_ever() -> None:
    x = torch.zeros(2, device="cuda")
    for index in (0, MASK, MASK.cuda()):
        with pytest.raises(ValueError, match="Overflow when unpacking long long"):
            x[index] = 2**70


def test_what_is_on_the_cpu_is_assigned_to_as_without_a_simulation() -> None:
    x = torch.zeros(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x[MASK] = 1.0
        x[[1]] = 3
    assert x.tolist() == [1, 3]
