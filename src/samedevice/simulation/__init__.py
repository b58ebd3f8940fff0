"""A CUDA with N GPUs on a machine that has none.

tensor.py      the tensor on a simulated GPU
placement.py   may these tensors meet? with schema.py (PyTorch's table of operators), checks.py and
               convolution.py (its checks) and refusals.py (their texts)
factories.py, moves.py, storage.py, randomness.py, gradients.py, runtime.py, memory.py,
parallel.py, grouping.py, legacy.py, composites.py, entries.py
               what stands in for PyTorch's own functions while a simulation runs
session.py     start and stop
"""

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError("simulate_cuda needs PyTorch, which is not installed here: pip install torch") from error

from samedevice.simulation.session import simulate_cuda

__all__ = ["simulate_cuda"]
