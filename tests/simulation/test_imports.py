"""What is first imported while a simulation runs finds a torch that it understands."""

import subprocess
import sys

import pytest

PROGRAM = """
import torch
from samedevice import simulate_cuda
with simulate_cuda(devices=1):
    import torch._dynamo  # optimizers import it, and it reads torch's tables of functions
    from torch.distributed import nn
before = torch.overrides.get_default_nowrap_functions()
assert torch.Tensor.grad.__get__ in before, "torch's own attribute is missing from its table"
"""


@pytest.mark.slow
def test_torch_packages_imported_inside_a_simulation_leave_torchs_tables_alone() -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], check=True)


@pytest.mark.slow
def test_starting_leaves_to_the_first_tensor_what_takes_long() -> None:
    program = """
import sys, torch
from samedevice import simulate_cuda
with simulate_cuda(devices=2):
    assert torch.cuda.is_available() and "torch.distributed.tensor" not in sys.modules
    x = torch.ones(2, 2, device="cuda", requires_grad=True)
    x.cov().sum().backward()
    assert x.grad.is_cuda and "torch._dynamo" not in sys.modules
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)
