"""The programs in the proofs of claims that no lesson settles: they do what the proof says."""

import pytest
import torch
from torch.utils.data import DataLoader

from samedevice import simulate_cuda
from samedevice.catalog import load

CLAIMS = load().claims
OTHER = "got tensors is on cpu, different from other tensors on cuda:0"


@pytest.fixture
def alternating():
    """Items of which every other one is on the GPU."""
    with simulate_cuda(devices=2):
        yield [torch.ones(2, device="cpu" if index % 2 else "cuda") for index in range(4)]


def test_a_dataset_that_alternates_between_devices_fails_where_two_items_meet(alternating):
    claim = CLAIMS["an-alternating-dataset-breaks-the-sum"]
    assert (claim.home, claim.verdict) == ("myths", "false")
    batches = list(DataLoader(alternating, batch_size=1))
    assert [str(batch.device) for batch in batches] == ["cuda:0", "cpu"] * 2
    assert [batch.sum().item() for batch in batches] == [2.0] * 4
    assert OTHER in claim.proof
    with pytest.raises(RuntimeError, match=OTHER):
        next(iter(DataLoader(alternating, batch_size=2)))


LOOPS = {
    "X_train": "dataset = TensorDataset(X_train, y_train)\nfor x, y in DataLoader(dataset):\n    x = x.to(device)",
    "train_loader": "for x, y in train_loader:\n    x, y = x.to(device), y.to(device)\n    loss = loss_fn(model(x), y)",
}


@pytest.mark.parametrize("missing", LOOPS)
def test_the_usual_loop_stops_at_a_name_that_nobody_defines(missing):
    claim = CLAIMS["batch-loop-examples-run-as-printed"]
    assert (claim.home, claim.verdict) == ("myths", "does not run")
    error = f"name '{missing}' is not defined"
    assert f"NameError: {error}" in claim.proof
    with pytest.raises(NameError, match=error):
        exec(f"from torch.utils.data import DataLoader, TensorDataset\ndevice = 'cpu'\n{LOOPS[missing]}", {})


def test_the_usual_example_of_moving_a_model_stops_at_a_class_that_nobody_defines():
    claim = CLAIMS["placeholder-model-examples-run-as-printed"]
    assert (claim.home, claim.verdict) == ("myths", "does not run")
    error = "name 'MyModel' is not defined"
    assert f"NameError: {error}" in claim.proof
    with pytest.raises(NameError, match=error):
        exec("model = MyModel().to('cuda')", {})
