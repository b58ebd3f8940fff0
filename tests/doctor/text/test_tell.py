"""The line that tells which of several tensors is in the wrong place: it prints the devices, and can be run."""

import pytest

from samedevice.doctor.diagnosis import Culprit
from samedevice.doctor.text.tell import tell

X = Culprit("x", "cpu", "input_not_moved", "")


@pytest.mark.parametrize(
    ("expression", "cause", "printed"),
    [
        ("batch['y'][:, 0]", "target_not_moved", "batch['y'][:, 0].device"),
        ("a + b", "input_not_moved", "(a + b).device"),
        ("-x", "input_not_moved", "(-x).device"),
        ("torch.arange(n + 1)", "tensor_created_in_forward_without_device", "torch.arange(n + 1).device"),
        ("torch.zeros(\n        3)", "tensor_created_in_forward_without_device", "torch.zeros( 3).device"),
        ("self.fc1.weight", "model_not_moved", "self.fc1.weight.device"),
        ("self.weights", "loss_weight_not_moved", "self.weights.device"),
    ],
)
def test_each_prints_its_own_device(expression, cause, printed):
    assert tell([Culprit(expression, "cpu", cause, ""), X]) == f"print({printed}, x.device)"


def test_a_module_prints_where_its_tensors_are():
    loss = Culprit("self.criterion", "cpu", "loss_weight_not_moved", "self.criterion.to(x.device)")
    told = "print({t.device for t in self.criterion.state_dict().values()}, x.device)"
    assert tell([loss, X], ["self.criterion"]) == told


def test_of_one_there_is_nothing_to_tell():
    assert tell([]) == tell([X]) == ""
