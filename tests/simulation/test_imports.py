"""What is first imported while a simulation runs finds a torch that it understands."""

import subprocess
import sys

PROGRAM = """
import torch
from samedevice import simulate_cuda
with simulate_cuda(devices=1):
    import torch._dynamo  # optimizers import it, and it reads torch's tables of functions
    from torch.distributed import nn
before = torch.overrides.get_default_nowrap_functions()
assert torch.Tensor.grad.__get__ in before, "torch's own attribute is missing from its table"
"""


def test_torch_packages_imported_inside_a_simulation_leave_torchs_tables_alone() -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], check=True)
