"""A CUDA with N GPUs on a machine that has none.

tensor.py      the tensor on a simulated GPU, with classes.py (Parameter and users' own), sparse.py and nested.py
devices.py     which GPUs there are
placement.py   may these tensors meet? with schema.py (PyTorch's table of operators), general.py (its rules), checks.py,
               indexing.py, convolution.py, linear_algebra.py, entries.py and layers.py (its checks), refusals.py
               (their texts); known_differences.toml says where they are not met
dtypes.py      what CUDA says of dtypes, where the CPU has other words
ownership.py   whose is a tensor on the CPU: the program's, or PyTorch's own code's?
kernels.py     how operators that PyTorch composes in C++ are met
process_group_nccl.py
               torch.distributed between the GPUs of several processes; parallel.py and nccl.py, between those of one
tested.py      with which releases of torch it was tested
session.py     start and stop; all else stands in for PyTorch's own functions while a simulation runs (stand_ins.py)
"""

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError("simulate_cuda needs PyTorch, which is not installed here: pip install torch") from error

from samedevice.simulation.session import simulate_cuda

__all__ = ["simulate_cuda"]
