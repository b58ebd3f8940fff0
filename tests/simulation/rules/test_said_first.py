"""Calls that are wrong in two ways: PyTorch's CUDA build speaks of the other one before it looks at devices.

Every text is what PyTorch 2.13's CUDA build says.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from ones import cpu, cuda
from torch import nn
from torch.nn import functional as F  # noqa: N812


@pytest.fixture(autouse=True)
def simulation(two_gpus: None) -> None: ...


REFUSED: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "cosine_similarity of other shapes": (
        lambda: F.cosine_similarity(cuda(2, 2), cpu(2, 3)),
        RuntimeError,
        "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 1",
    ),
    "cosine_similarity of integers": (
        lambda: F.cosine_similarity(cuda(2, 2, dtype=torch.long), cpu(2, 2, dtype=torch.long)),
        RuntimeError,
        "expected common dtype to be floating point, yet common dtype is Long",
    ),
    "the state of a GRUCell": (
        lambda: nn.GRUCell(2, 3).cuda()(cuda(1, 2), cpu(1, 4)),
        RuntimeError,
        "hidden0 has inconsistent hidden_size: got 4, expected 3",
    ),
    "the channels of PReLU": (
        lambda: nn.PReLU(4).cuda()(cpu(2, 3)),
        RuntimeError,
        "Mismatch of parameter numbers and input channel size. Found parameter numbers = 4 and channel size = 3.",
    ),
    "the shape of RMSNorm": (
        lambda: nn.RMSNorm(3).cuda()(cpu(2, 4)),
        RuntimeError,
        "Given normalized_shape=[3], expected input with shape [*3], but got input of size[2, 4]",
    ),
    "set_ of another dtype": (
        lambda: cuda(2).set_(cpu(2, dtype=torch.float64)),
        RuntimeError,
        "Could not set tensor of type double to a tensor of type float",
    ),
    "set_ of a leaf": (
        lambda: nn.Linear(2, 2).cuda().weight.set_(cpu(2, 2)),
        RuntimeError,
        "a leaf Variable that requires grad is being used in an in-place operation.",
    ),
    "an embedding by floats": (
        lambda: nn.Embedding(4, 2)(cuda(3)),
        RuntimeError,
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
        "torch.cuda.FloatTensor instead (while checking arguments for embedding)",
    ),
    "complex of integers": (
        lambda: torch.complex(cuda(2, dtype=torch.long), cpu(2, dtype=torch.long)),
        RuntimeError,
        "Expected both inputs to be Half, Float or Double tensors but got Long and Long",
    ),
    "an argument of cpu()": (
        lambda: cuda(2).cpu(1),  # type: ignore[call-arg]
        TypeError,
        "cpu() takes 0 positional arguments but 1 was given",
    ),
    "a second argument of cuda()": (
        lambda: cuda(2).cuda("x", "y"),  # type: ignore[arg-type]
        TypeError,
        "cuda(): argument 'non_blocking' (position 2) must be bool, not str",
    ),
    "a stream by its name": (
        lambda: torch.cuda.Event().record("stream"),  # type: ignore[arg-type]
        RuntimeError,
        "expected stream to be a torch.Stream or torch.cuda.Stream object",
    ),
    "a stream that is a tensor": (
        lambda: torch.cuda.Event().wait(cpu(1)),  # type: ignore[arg-type]
        RuntimeError,
        "expected stream to be a torch.Stream or torch.cuda.Stream object",
    ),
    "an event's handle that is too short": (
        lambda: torch.cuda.Event.from_ipc_handle(0, b"x"),
        RuntimeError,
        "cudaIpcEventHandle_t expects byte-like object of size 64, but got 1",
    ),
    "a negative size of memory": (
        lambda: torch.cuda.caching_allocator_alloc(-1),
        ValueError,
        "Invalid memory size: -1. caching_allocator_alloc requires a non-negative size.",
    ),
    "memory that was not allocated": (
        lambda: torch.cuda.caching_allocator_delete(5),
        RuntimeError,
        "invalid device pointer: 0x5",
    ),
    "a fraction of another GPU's memory": (
        lambda: torch.cuda.set_per_process_memory_fraction(0.5, 5),
        RuntimeError,
        "Allocator not initialized for device \5: did you call init?",
    ),
    "the learning rate of a fused step": (
        lambda: fused_step(torch.tensor(0.1, device="cuda:1")),
        RuntimeError,
        "lr must be on the same GPU device as the params",
    ),
    "the state of a fused Adam": (
        lambda: fused_step(torch.tensor(0.1), torch.optim.Adam, moved=True),
        RuntimeError,
        "params, grads, exp_avgs, and exp_avg_sqs must have same dtype, device, and layout",
    ),
    "the state of a fused Adam with amsgrad": (
        lambda: fused_step(torch.tensor(0.1), torch.optim.AdamW, moved=True, amsgrad=True),
        RuntimeError,
        "params, grads, exp_avgs, exp_avg_sqs, and max_exp_avg_sqs must have same dtype, device, and layout",
    ),
    "the state of a fused Adagrad": (
        lambda: fused_step(torch.tensor(0.1), torch.optim.Adagrad, moved=True),
        RuntimeError,
        "params, grads, and state_sums must have same dtype, device, and layout",
    ),
    "the state of a fused SGD": (
        lambda: fused_step(torch.tensor(0.1), torch.optim.SGD, moved=True, momentum=0.9),
        RuntimeError,
        "Expected at::native::check_fast_path_restrictions( {params, grads, momentum_buffer_list}) to be true, but got "
        "false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)",
    ),
}


def fused_step(
    lr: torch.Tensor, kind: Callable[..., torch.optim.Optimizer] = torch.optim.SGD, moved: bool = False, **options: Any
) -> None:
    """Step once, or, where the parameter is `moved`, on the CPU before and then on the GPU."""
    parameter = nn.Parameter(cpu(2) if moved else cuda(2))
    optimizer = kind([parameter], lr=lr, fused=True, **options)
    parameter.grad = torch.ones_like(parameter)
    if moved:
        optimizer.step()
        parameter.data, parameter.grad = parameter.data.cuda(), None
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()


@pytest.mark.parametrize(("call", "kind", "text"), REFUSED.values(), ids=REFUSED)
def test_what_pytorch_says_before_it_looks_at_devices(
    call: Callable[[], object], kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind) as refusal:
        call()
    assert str(refusal.value) == text


def test_what_fits_is_still_held_to_its_device() -> None:
    for call in (
        lambda: F.cosine_similarity(cuda(2, 3), cpu(2, 3)),
        lambda: nn.GRUCell(2, 3).cuda()(cuda(1, 2), cpu(1, 3)),
        lambda: nn.PReLU(3).cuda()(cpu(2, 3)),
        lambda: nn.RMSNorm(3).cuda()(cpu(2, 3)),
        lambda: nn.Embedding(4, 2)(cuda(3, dtype=torch.long)),
        lambda: torch.complex(cuda(2), cpu(2)),
    ):
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device, but got"):
            call()


def test_a_three_dimensional_convolution_on_the_cpu_with_weights_on_a_gpu_has_no_kernel() -> None:
    with pytest.raises(NotImplementedError, match=r"Could not run 'aten::slow_conv3d_forward' with .* 'CUDA' backend"):
        nn.Conv3d(2, 3, 1).cuda()(cpu(1, 2, 5, 5, 5))


def test_a_fused_step_reads_a_learning_rate_on_the_cpu_as_a_number() -> None:
    fused_step(torch.tensor(0.1))


def test_autocast_of_one_gpu_by_its_name_is_that_of_all() -> None:
    with torch.autocast("cuda:0"):
        assert (cuda(2, 2) @ cuda(2, 2)).dtype is torch.float16
