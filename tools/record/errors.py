"""The text of an error as it is recorded, and which errors say nothing about devices."""

import re

import torch

# What runtime.c cannot do, and errors that come of values that no kernel computed. A word begins with the library's
# name: `wrapper_CUDA__cudnn_batch_norm` names a check on devices, which comes before cuDNN is asked.
NOT_ASKED = re.compile(
    r"\bcu(FFT|BLAS|SOLVER|SPARSE|DNN|RAND)|CUDA (error|out of memory)|INTERNAL ASSERT|Could not run|nvrtc|"
    r"negative entry|out of bounds|overflow|Declaration:|none are available|compute capability|"
    r"Invalid (learning rate|beta parameter|epsilon)|Learning rate should be|infs or NaNs|cannot be negative|"
    r"rows of lengths along axis|elements of std >= 0|defined only up to|are specified up to|triton|"
    r"expected a non-empty list of Tensors|can have only 1 value, got 0|The size of tensor a|Jacobian mismatch",
    re.IGNORECASE,
)
# What an error about tensors that are all on one GPU says only where CUDA's own text does.
OF_THE_CPU = re.compile(r"\bCPU|\bcpu\b|_cpu|cpu_|MKL|oneDNN|AVX")
_FOLDER = torch.__file__.removesuffix("__init__.py")
ABOUT_DEVICES = re.compile(r"\bdevices?\b|\bcuda\b|\bcpu\b|torch\.\w*Tensor", re.IGNORECASE)


def not_asked(said: str, but: str = "(?!)") -> bool:
    """Tell whether an error's text says nothing about devices; what matches `but` says something all the same."""
    return bool(NOT_ASKED.search(re.sub(but, "", said)))


def text(error: BaseException) -> str:
    """Return an error's text without what differs from run to run.

    That is C++'s stack, CUDA's advice after its first line, where PyTorch is installed, and addresses in memory.
    """
    said = str(error).split("\nException raised")[0].replace(_FOLDER, "torch/")
    said = re.sub(r"\b0x[0-9a-f]{6,}", "0x...", said)
    return said.split("\n")[0] if said.startswith("CUDA error") else said[:600]
