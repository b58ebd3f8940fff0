"""What CUDA calls a kernel that has no row in cuda_kernels.py: one inside a composed operator, or of a factory.

The CPU, which computes here, refuses the dtype in the name of its own kernel. Most of CUDA's differ in their end alone,
`arange_cpu` and `arange_cuda`.
"""

import re

_NAME = re.compile(r"\"([\w<>.]+)\" not implemented for '(\w+)'")
_OF_CPU = re.compile(r"(_out)?(_vml)?_cpu(_reduced_float)?(_?)$")
_NAMES = {
    "add_stub": "ufunc_add_CUDA",
    "bmm": "baddbmm_cuda",
    "masked_fill": "masked_fill_",
    "lu_cpu": "lu_factor_cusolver",
    "randperm": "arange_cuda",
    "pow": "pow_cuda",
    "tril_indices": "tril_indices_cuda",
    "triu_indices": "triu_indices_cuda",
}
# Kernels that CUDA has not, and what it says before it would come to one: native/cuda/DistributionTemplates.h,
# bernoulli_kernel.
_SAID_BEFORE = dict.fromkeys(
    ("bernoulli_tensor_cpu_p_", "bernoulli_tensor_cpu_self_"),
    "expected probabilities tensor to have floating type, got {}",
)
# fft and nansum look at the dtype before they come to a kernel, and only on a CPU.
_REFUSES = re.compile("not implemented for '|^nansum on CPU does not support|Unsupported dtype|^MKL FFT")


def refuses_dtype(error: RuntimeError) -> bool:
    """Whether a kernel of the CPU says that it does not compute a dtype."""
    return bool(_REFUSES.search(str(error)))


def of_cuda(error: NotImplementedError) -> RuntimeError | None:
    """The error in which a kernel of CUDA refuses a dtype, in place of the CPU's; None of any other error."""
    found = _NAME.match(str(error))
    if found is None:
        return None
    name, dtype = found.groups()
    if name in _SAID_BEFORE:
        return RuntimeError(_SAID_BEFORE[name].format(dtype))
    name = _NAMES.get(name) or _OF_CPU.sub(r"_cuda\4", name)
    return NotImplementedError(f"\"{name}\" not implemented for '{dtype}'")
