"""Operators that PyTorch composes of others in C++ and that make tensors of their own on the way.

They make them on the device of their input: the CPU, since a simulated tensor is one in C++. So a kernel in front of
each (composite_kernels.py) sees what the composition makes and brings it to the GPU. What is made without a device is
on the CPU by design and stays there. The list was found by running every operator of PyTorch's op_db on a simulated GPU
(tests/simulation/test_values.py), and by reading the composed operators that op_db has not.
"""

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from samedevice.simulation.calls import Arguments, Keywords, Overload, Types
from samedevice.simulation.device import dispatch_modes
from samedevice.simulation.device.devices import CPU, device_of
from samedevice.simulation.rules import judgement, made_inside
from samedevice.simulation.rules.composite_kernels import Kernel
from samedevice.simulation.tensor import functorch
from samedevice.simulation.tensor.dispatching_classes import at
from samedevice.simulation.tensor.simulated_tensor import SimulatedTensor
from samedevice.simulation.tensor.wrapping import unwrap, wrap

# Each as native_functions.yaml names it, without its overloads; many make tensors only for out= or for empty inputs.
_MAKE_TENSORS_INSIDE = (
    "cdist", "combinations", "cosine_similarity", "cov", "cumulative_trapezoid",
    "fake_quantize_per_tensor_affine",
    "istft", "linalg_cholesky", "linalg_cond", "linalg_det", "linalg_eigvals", "linalg_eigvalsh", "linalg_inv",
    "linalg_ldl_factor", "linalg_lu_factor", "linalg_matrix_rank", "linalg_pinv", "linalg_slogdet", "linalg_svdvals",
    "linalg_vander", "log_sigmoid", "msort", "nanquantile", "quantile",
    "scaled_dot_product_attention", "stft", "trapezoid", "vander",
)  # fmt: skip


def kernels() -> Iterator[tuple[str, Kernel]]:
    """The kernels to put in front of composed operators: (operator, kernel)."""
    in_front = dict.fromkeys(_MAKE_TENSORS_INSIDE, _on_one)
    # These take some tensors from another device by design (native/LossCTC.cpp, native/PackedSequence.cpp).
    mixed: dict[str, Kernel] = {"ctc_loss": _ctc_loss, "pad_sequence": _on_first, "_pad_packed_sequence": _padded}
    mixed |= dict.fromkeys(("_pack_padded_sequence_backward", "smm", "sspaddmm"), _on_first)
    mixed |= {"one_hot": _one_hot, "_sparse_mm": _sparse_product}
    for name, kernel in (in_front | mixed).items():
        for overload in getattr(torch.ops.aten, name).overloads() if hasattr(torch.ops.aten, name) else ():
            yield f"{name}.{overload}", kernel
    for name in ("pinverse", "linalg_pinv"):
        yield name, _pinverse
    yield "linalg_pinv.atol_rtol_float", _pinverse_within


def kernels_in_func() -> Iterator[tuple[str, Kernel]]:
    """The kernels to put in the place of those that torch.func has for operators that PyTorch composes.

    functorch/PyTorchOperatorHacks.cpp: dropout makes its noise by torch.empty, which no tensor on a GPU hears of.
    """
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.FuncTorchDynamicLayerFrontMode)
    for name in ("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout"):
        for operator in (name, f"{name}_"):
            kernel = _kernel_in_func(f"aten::{operator}")
            yield operator, functools.partial(_composing, kernel.call_boxed, keys)


@functools.cache  # of PyTorch's own, which later simulations find no more while one runs
def _kernel_in_func(operator: str) -> Any:
    return torch.library.get_kernel(operator, "FuncTorchDynamicLayerFrontMode")


def _composing(kernel: Any, *args: Any) -> Any:
    with made_inside.composing():
        return kernel(*args)


class _MadeOn(TorchDispatchMode):
    """Inside, what C++ makes on the CPU, asked for by name, is on a GPU."""

    def __init__(self, device: torch.device) -> None:
        super().__init__()
        self._device = device

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Without this, PyTorch wraps `__torch_dispatch__`, and its first call imports TorchDynamo for seconds."""
        return False

    # Not PyTorch's own __enter__ and __exit__, which note for the whole process that a mode is on: on CUDA there is
    # none, and threads that do so at the same time leave the note behind.
    def __enter__(self) -> "_MadeOn":
        dispatch_modes.enter()
        torch._C._push_on_torch_dispatch_stack(self)
        return self

    def __exit__(self, *exception: object) -> None:
        dispatch_modes.leave()
        torch._C._pop_torch_dispatch_stack(None)

    def __torch_dispatch__(
        self, func: Overload, types: Types, args: Arguments = (), kwargs: Keywords | None = None
    ) -> Any:
        if kwargs and kwargs.get("device") == CPU and dispatch_modes.now():  # the program's modes come next
            return func(*args, **(kwargs | {"device": self._device}))
        if any(isinstance(x, SimulatedTensor) for x in judgement.tensors_of(args, kwargs)):
            args = tuple(at(self._device, args))  # inside torch.func, this mode has not seen C++ make it
        made = func(*args, **(kwargs or {}))
        if kwargs and type(made) is torch.Tensor and kwargs.get("device") == CPU:
            return wrap(made, self._device)
        return made


def _on_one(compose: Kernel, *args: Any, **kwargs: Any) -> Any:
    """An operator whose tensors must be on one device: on several, the operators inside refuse them."""
    inputs = {name: value for name, value in kwargs.items() if name in ("fweights", "aweights")}  # of cov; not out=
    several = len({device_of(tensor) for tensor in judgement.tensors_of(args, inputs)}) > 1
    return compose(*args, **kwargs) if several else _on_first(compose, *args, **kwargs)


def _one_hot(compose: Kernel, inputs: Tensor, num_classes: Any = -1) -> Any:
    """native/Onehot.cpp: of a tensor with the Python key it makes comparisons, on CUDA numbers in zeros.

    If a class is not there, scatter_ says so.
    """
    is_plain = isinstance(inputs, SimulatedTensor) and not functorch.is_wrapped(inputs)
    if not is_plain or inputs.dtype is not torch.long or device_of(inputs) is CPU:
        return _on_one(compose, inputs, num_classes)
    if not inputs.numel():
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
    elif num_classes == -1:
        num_classes = int(inputs.max()) + 1
    elif num_classes < 1:
        raise RuntimeError("num_classes should be positive")
    return inputs.new_zeros((*inputs.shape, num_classes)).scatter_(-1, inputs.unsqueeze(-1), 1)


def _on_first(compose: Kernel, *args: Any, **kwargs: Any) -> Any:
    """What an operator makes for itself is where its first tensor is."""
    home = device_of(next(judgement.tensors_of(args, kwargs)))
    if home is CPU:
        return compose(*args, **kwargs)
    with _MadeOn(home), made_inside.composing():  # inside torch.func, no mode sees what C++ makes
        made = compose(*args, **kwargs)
    out = kwargs.get("out")
    if isinstance(out, torch.Tensor) and made is not out:
        out.resize_(made.shape).copy_(made)  # for subclasses of Tensor, linalg.matrix_rank returns another
        return out
    return made


def _pinverse_within(
    compose: Kernel, inputs: Tensor, *, atol: Any = None, rtol: Any = None, hermitian: bool = False
) -> Any:
    """native/LinearAlgebra.cpp, get_atol_rtol: tolerances that are numbers become tensors, on the GPU."""
    home = device_of(inputs)
    if home is CPU or inputs.dim() < 2 or not (inputs.is_floating_point() or inputs.is_complex()):
        return compose(inputs, atol=atol, rtol=rtol, hermitian=hermitian)
    if rtol is None:
        rtol = 0.0 if atol is not None and atol > 0 else torch.finfo(inputs.dtype).eps * max(inputs.shape[-2:])
    return _pinverse_of(inputs, atol or 0.0, rtol, hermitian, home)


def _pinverse(compose: Kernel, inputs: Tensor, rcond: float = 1e-15, hermitian: bool = False) -> Any:
    """native/LinearAlgebra.cpp, pinverse and linalg_pinv: a tolerance that is a number becomes a tensor, on the GPU."""
    home = device_of(inputs)
    if home is CPU:
        return compose(inputs, rcond, hermitian) if hermitian else compose(inputs, rcond)
    return _pinverse_of(inputs, 0.0, rcond, hermitian, home)


def _pinverse_of(inputs: Tensor, atol: float, rtol: float, hermitian: bool, home: torch.device) -> Any:
    tolerances = [wrap(torch.ops.aten.full.default([], x, dtype=torch.float64), home) for x in (atol, rtol)]
    return torch.ops.aten.linalg_pinv.atol_rtol_tensor(
        inputs, atol=tolerances[0], rtol=tolerances[1], hermitian=hermitian
    )


def _sparse_product(compose: Kernel, first: Tensor, second: Tensor, *args: Any) -> Any:
    """native/sparse/SparseTensorMath.cpp, _sparse_mm: zeros are made where the dense factor is."""
    home = device_of(second if first.layout is not torch.strided else first)
    with contextlib.nullcontext() if home is CPU else _MadeOn(home):
        return compose(first, second, *args)


def _ctc_loss(compose: Kernel, log_probs: Tensor, targets: Tensor, *rest: Any, **kwargs: Any) -> Any:
    """native/LossCTC.cpp, ctc_loss: lengths are read on the CPU, and targets brought to where the probabilities are."""
    lengths = [x for x in rest[:2] if isinstance(x, torch.Tensor) and not functorch.is_wrapped(x)]
    if len(lengths) == 2 and any(device_of(x) is not CPU for x in (log_probs, targets, *lengths)):
        for name, length in zip(("input_lengths", "target_lengths"), lengths, strict=True):
            if length.dtype.is_floating_point or length.dtype.is_complex or length.dtype is torch.bool:
                raise RuntimeError(f"{name} must be integral")
        # Of an unbatched input they have no dimension; C++ reads as many numbers as there are in their memory.
        numbers = (length.reshape(-1).tolist() for length in lengths)
        return torch.ops.aten.ctc_loss.IntList(log_probs, targets, *numbers, *rest[2:], **kwargs)
    return _on_first(compose, log_probs, targets.to(device_of(log_probs)), *rest, **kwargs)


def _padded(compose: Kernel, *args: Any, **kwargs: Any) -> Any:
    """native/PackedSequence.cpp, _pad_packed_sequence: the lengths are made where batch_sizes is, on the CPU."""
    padded, lengths = _on_first(compose, *args, **kwargs)
    return padded, unwrap(lengths)
