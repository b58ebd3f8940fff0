"""A CUDA with N GPUs on a machine that has none.

session.py    start and stop: the one place where torch is changed and put back
device/       which GPUs there are (devices.py), which is current in backward (in_backward.py), and what each keeps:
              streams and events, a generator, blocks of memory
rules/        may these tensors meet? judgement.py asks PyTorch's table of operators (native_functions.py), the rules
              that decide most calls (tensor_iterator.py), and the checks that PyTorch wrote by hand (checks.py,
              indexing.py, convolution.py, linear_algebra.py, composite_checks.py), whose texts are in errors.py.
              layouts.py chooses the kernel of sparse and nested tensors; sparse_checks.py, nested_checks.py and
              sparse_refusals.py say what it refuses, and quantized.py what CUDA has no kernel of for quantized
              tensors. cuda_kernels.py has which dtypes CUDA's kernels compute, and kernel_choice.py which kernel an
              operator comes to; dtype_refusals.py, dtype_texts.py and kernel_names.py say in its words what CUDA does
              not compute, only_cuda_computes.py does what the CPU does not, and made_inside.py tells what C++ made for
              itself
tensor/       the tensor on a simulated GPU (simulated_tensor.py), what happens with each operator that it meets
              (dispatch.py), its classes, and how it is made, moved (transfers.py) and assigned to (setitem.py)
patches/      what stands in for PyTorch's own modules, named as these are: cuda.py for torch.cuda, nn.py, autograd.py
stand_ins.py  how a function that takes the place of PyTorch's equals it; class_stand_ins.py: how a class does
calls.py      the types of a call: an operator, its arguments; state.py: what one simulation remembers
kernels.py    kernels in PyTorch's dispatcher that go when the simulation ends
decorated.py  a function that runs inside a context at each call, for @simulate_cuda(2)
tested.py     with which releases of torch it was tested

Each room imports only those above it in this list but session.py, which imports all. known_differences.toml says where
PyTorch's rules are not met.
"""

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError("simulate_cuda needs PyTorch, which is not installed here: pip install torch") from error

from samedevice.simulation.session import simulate_cuda

__all__ = ["simulate_cuda"]
