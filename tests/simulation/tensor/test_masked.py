"""MaskedTensors on a simulated GPU: where they are, the CPU's values, and what is refused."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.masked import masked_tensor

pytestmark = [pytest.mark.usefixtures("two_gpus"), pytest.mark.filterwarnings("ignore")]


def masked(device: str, of_mask: str = "", **options: Any) -> Any:
    data, mask = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([True, False, True])
    return masked_tensor(data.to(device), mask.to(of_mask or device), **options)


def test_it_is_where_its_data_is() -> None:
    for device, of_mask in (("cuda:1", "cuda:1"), ("cuda:0", "cpu"), ("cpu", "cuda:0")):
        x = masked(device, of_mask)
        assert (str(x.device), x.is_cuda, x.is_cpu) == (device, device != "cpu", device == "cpu")
        assert str(x.get_data().device) == device
        assert str(x.get_mask().device) == of_mask
    assert masked("cuda").type() == "torch.cuda.FloatTensor"
    assert masked("cuda").get_device() == 0


COMPUTED: dict[str, Callable[[Any], Any]] = {
    "a sum": lambda x: x.sum(),
    "a mean": lambda x: x.mean(),
    "the largest": lambda x: x.amax(0),
    "a number more": lambda x: x + 1,
    "a product": lambda x: x * x,
    "exp": lambda x: x.exp(),
    "softmax": lambda x: torch.softmax(x, 0),
    "an element": lambda x: x[2],
    "a clone": lambda x: x.clone().detach(),
    "filled": lambda x: x.to_tensor(0.0),
    "a dense tensor more": lambda x: x + torch.ones(3, device=x.device),
    "where": lambda x: torch.where(x.get_mask(), x, x),
    "sparse": lambda x: x.to_sparse(),
}


@pytest.mark.parametrize("case", COMPUTED)
def test_what_is_computed_has_the_cpus_values_on_the_gpu(case: str) -> None:
    expected, got = COMPUTED[case](masked("cpu")), COMPUTED[case](masked("cuda:1"))
    assert (type(got) is type(expected)) or case == "filled"
    assert str(got.device) == "cuda:1"
    assert repr(got.cpu()) == repr(expected)


def test_it_moves_with_its_mask() -> None:
    there = masked("cpu").cuda()
    assert str(there.device) == str(there.get_mask().device) == "cuda:0"
    for here in (there.cpu(), there.to("cpu"), there.to("cuda:1").cpu()):
        assert (str(here.device), repr(here)) == ("cpu", repr(masked("cpu")))


def test_a_gradient_is_masked_too() -> None:
    x = masked("cuda", requires_grad=True)
    (x * x).sum().backward()
    assert str(x.grad.device) == "cuda:0"
    assert x.grad.to_tensor(0.0).tolist() == [2, 0, 8]


REFUSED: dict[str, Callable[[], object]] = {
    "a mask on the CPU": lambda: masked("cuda", "cpu").sum(),
    "one on the CPU": lambda: masked("cuda") + masked("cpu"),
    "a dense tensor on the CPU": lambda: masked("cuda") + torch.ones(3),
}


@pytest.mark.parametrize("case", REFUSED)
def test_tensors_on_two_devices_are_refused(case: str) -> None:
    with pytest.raises(RuntimeError) as refusal:
        REFUSED[case]()
    assert str(refusal.value) == (
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
    )


def test_what_is_no_mask_is_refused_wherever_it_is() -> None:
    with pytest.raises(TypeError, match="mask must have dtype bool"):
        masked_tensor(torch.ones(2, device="cuda"), torch.ones(2))
    with pytest.raises(ValueError, match="must equal mask"):
        masked_tensor(torch.ones(2), torch.ones(3, dtype=torch.bool, device="cuda"))
