"""The programs in the proofs of claims that no lesson settles: they do what the proof says."""

import importlib
import re
import subprocess
import sys

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
    assert (claim.home, claim.verdict) == ("claims", "false")
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
    assert (claim.home, claim.verdict) == ("claims", "does not run")
    error = f"name '{missing}' is not defined"
    assert f"NameError: {error}" in claim.proof
    with pytest.raises(NameError, match=error):
        exec(f"from torch.utils.data import DataLoader, TensorDataset\ndevice = 'cpu'\n{LOOPS[missing]}", {})


def test_the_usual_example_of_moving_a_model_stops_at_a_class_that_nobody_defines():
    claim = CLAIMS["placeholder-model-examples-run-as-printed"]
    assert (claim.home, claim.verdict) == ("claims", "does not run")
    error = "name 'MyModel' is not defined"
    assert f"NameError: {error}" in claim.proof
    with pytest.raises(NameError, match=error):
        exec("model = MyModel().to('cuda')", {})


def test_the_usual_model_on_two_devices_stops_at_an_import_that_defines_another_name():
    claim = CLAIMS["two-device-model-example-runs-as-printed"]
    assert (claim.home, claim.verdict) == ("claims", "does not run")
    error = "name 'torch' is not defined"
    assert f"NameError: {error}" in claim.proof
    with pytest.raises(NameError, match=error):
        exec("import torch.nn as nn\nlayer = nn.Linear(10, 5).to(torch.device('cpu'))", {})


def test_the_usual_example_of_data_parallel_stops_at_a_device_that_nobody_defines():
    claim = CLAIMS["dataparallel-example-runs-as-printed"]
    assert (claim.home, claim.verdict) == ("claims", "does not run")
    error = "name 'device' is not defined"
    assert f"NameError: {error}" in claim.proof
    with pytest.raises(NameError, match=error):
        exec("from torch import nn\nmodel = nn.DataParallel(nn.Linear(10, 2))\nmodel.to(device)", {})


def test_on_the_cpu_alone_data_parallel_only_calls_the_module(monkeypatch):
    claim = CLAIMS["dataparallel-is-for-cuda-only"]
    assert (claim.home, claim.verdict) == ("claims", "misleading")
    asks = importlib.import_module("torch.nn.parallel.data_parallel")  # a function has this name too
    monkeypatch.setattr(asks, "_get_available_device_type", lambda: None)  # as on a machine without a GPU
    parallel = torch.nn.DataParallel(torch.nn.Linear(2, 1))
    assert parallel.device_ids == []
    assert parallel(torch.ones(3, 2)).shape == (3, 1)


EXAMPLE = """
x, y = torch.randn(10), torch.randn(10, device="cuda")
try:
    x + y
except RuntimeError as error:
    caught.append(str(error))
"""


@pytest.mark.slow
def test_an_example_that_catches_the_error_stops_before_its_try_where_there_is_no_gpu(monkeypatch):
    claim = CLAIMS["cuda-examples-run-without-a-gpu"]
    assert (claim.home, claim.verdict) == ("claims", "does not run")
    caught = []
    with simulate_cuda(devices=1):
        exec(EXAMPLE, {"torch": torch, "caught": caught})
    assert caught == ["Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with simulate_cuda(devices=1), pytest.raises(RuntimeError, match="No CUDA GPUs are available"):
        exec(EXAMPLE, {"torch": torch, "caught": caught})
    assert len(caught) == 1
    if torch.version.cuda is None:
        error = "Torch not compiled with CUDA enabled"
        assert f"AssertionError: {error}" in claim.proof
        # In a process of its own: PyTorch's C++ notes for good that a device was initialised, in a simulation too.
        program = f"import torch\ncaught = []\n{EXAMPLE}"
        alone = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert alone.stderr.splitlines()[-1] == f"AssertionError: {error}"


def test_a_runtime_without_a_gpu_raises_other_errors_than_that_of_two_devices(tmp_path, monkeypatch):
    """Colab's CPU runtime has a CPU build: https://github.com/googlecolab/backend-info, pip-freeze.txt."""
    claim = CLAIMS["colab-changes-devices-under-you"]
    assert (claim.home, claim.verdict) == ("claims", "misleading")
    with simulate_cuda(devices=1):
        torch.save(torch.ones(1, device="cuda"), tmp_path / "weights.pt")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    error = "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False"
    assert error in claim.proof
    with simulate_cuda(devices=1):
        for use in (lambda: torch.ones(1, device="cuda"), lambda: torch.load(tmp_path / "weights.pt")):
            with pytest.raises(RuntimeError, match=f"No CUDA GPUs are available|{re.escape(error)}"):
                use()


def test_debug_mode_logs_the_devices_of_the_call_that_fails():
    debug_mode = pytest.importorskip("torch.utils._debug_mode", reason="new in torch 2.10")
    claim = CLAIMS["pytorch-has-a-debugger-for-devices"]
    assert (claim.home, claim.verdict) == ("claims", "misleading")
    logged = "aten::add.Tensor(t: f32[2]{device=cpu}, t: f32[2]{device=meta})"
    assert logged in claim.proof
    with (
        debug_mode.DebugMode(record_tensor_attributes=["device"]) as log,
        pytest.raises(RuntimeError, match="is not on the expected device"),
    ):
        torch.ones(2) + torch.ones(2, device="meta")
    assert logged in log.debug_string()
