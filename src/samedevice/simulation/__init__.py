"""A CUDA with N GPUs on a machine that has none.

session.py starts and stops it, and is the one place where torch is changed and put back. Each room imports only the
rooms after it:

    patches   what stands in for PyTorch's own modules, in files named as these are: cuda.py for torch.cuda
    tensor    the tensor on a simulated GPU, and what happens with each operator that it meets
    rules     may these tensors meet, and what does CUDA say if not?
    device    which GPUs there are, which is current, and what each keeps

Each file says at its top what it is for. known_differences.toml says where PyTorch's rules are not met.
"""

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError("simulate_cuda needs PyTorch, which is not installed here: pip install torch") from error

from samedevice.simulation.session import simulate_cuda

__all__ = ["simulate_cuda"]
