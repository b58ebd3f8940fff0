"""What a PyTorch for the CPU alone raises of accelerators is explained live in the words of the right maker."""

import pytest
import torch
from tests.catalog.test_accelerators import is_foreign, sentences

from samedevice import explain

pytestmark = pytest.mark.skipif(
    torch.accelerator.current_accelerator() is not None, reason="a build for an accelerator says other things"
)


def failing(call):
    try:
        call()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        return explain(error)
    return None


def moved(x, device):
    return x.to(device)


@pytest.mark.parametrize(
    ("call", "accelerator", "cause"),
    [
        (lambda: moved(torch.ones(2), "xpu"), "xpu", "no_xpu_build"),
        (lambda: moved(torch.nn.Linear(2, 2), torch.device("xpu", 1)), "xpu", "no_xpu_build"),
        (lambda: torch.zeros(2, device="xpu"), "xpu", "no_xpu_build"),
        (lambda: torch.xpu.synchronize(), "xpu", "no_xpu_build"),
        (lambda: torch.Generator("xpu"), "xpu", "no_xpu_build"),
        (lambda: moved(torch.ones(2), "mps"), "mps", "no_mps"),
        (lambda: torch.zeros(2, device="mps"), "mps", "mps_or_other_backend"),
        (lambda: torch.zeros(2, device="npu"), "npu", "mps_or_other_backend"),
        (lambda: moved(torch.ones(2), 0), "", "no_accelerator"),
        (lambda: torch.empty(2, pin_memory=True), "", "no_accelerator"),
    ],
)
def test_a_live_answer_speaks_of_the_accelerator_that_was_asked_for(call, accelerator, cause):
    found = failing(call)
    assert found.causes[0].id == cause
    assert [sentence for sentence in sentences(found) if is_foreign(sentence, accelerator)] == []


def test_a_number_for_a_device_is_replaced_by_the_accelerator_of_the_machine():
    (culprit,) = failing(lambda: moved(torch.ones(2), 0)).culprits
    assert (culprit.expression, culprit.sentence) == ("device", "`device` asks for an accelerator.")
    assert culprit.fix == 'device = torch.accelerator.current_accelerator(check_available=True) or "cpu"'
