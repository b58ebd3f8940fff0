"""Where PyTorch's CUDA build refuses, the simulation refuses, with the whole of its text; elsewhere it does not."""

from collections.abc import Callable

import numpy
import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

pytestmark = pytest.mark.usefixtures("two_gpus")

SAME = "Expected all tensors to be on the same device, but "


def text_b(argument: str, device: str, reference: str, method: str) -> str:
    return (
        f"{SAME}got {argument} is on {device}, different from other tensors on {reference} "
        f"(when checking argument in method {method})"
    )


def cuda(*shape: int, index: int = 0) -> torch.Tensor:
    return torch.ones(shape, device=f"cuda:{index}")


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    # TensorIterator: the accelerator is named first, whatever the order
    "cpu + cuda": (lambda: torch.ones(3) + cuda(3), f"{SAME}found at least two devices, cuda:0 and cpu!"),
    "cuda + cpu": (lambda: cuda(3) + torch.ones(3), f"{SAME}found at least two devices, cuda:0 and cpu!"),
    "two gpus": (lambda: cuda(3, index=1) * cuda(3), f"{SAME}found at least two devices, cuda:1 and cuda:0!"),
    "into the cpu": (lambda: torch.ones(3).add_(cuda(3)), f"{SAME}found at least two devices, cuda:0 and cpu!"),
    "into a 0-dim": (lambda: torch.tensor(1.0).add_(cuda()), f"{SAME}found at least two devices, cuda:0 and cpu!"),
    "shape (1,)": (lambda: cuda(3) + torch.ones(1), f"{SAME}found at least two devices, cuda:0 and cpu!"),
    "0-dim on cuda": (lambda: torch.ones(3) + cuda(), f"{SAME}found at least two devices, cuda:0 and cpu!"),
    "out": (lambda: torch.add(cuda(3), 1, out=torch.ones(3)), f"{SAME}found at least two devices, cuda:0 and cpu!"),
    "mse_loss": (lambda: F.mse_loss(cuda(3), torch.ones(3)), f"{SAME}found at least two devices, cuda:0 and cpu!"),
    "logits": (
        lambda: F.binary_cross_entropy_with_logits(cuda(3), torch.ones(3)),
        f"{SAME}found at least two devices, cuda:0 and cpu!",
    ),
    "scalars": (
        lambda: torch.lerp(cuda(3), torch.tensor(1.0), torch.tensor(0.5)),
        "Trying to pass too many CPU scalars to non-CPU kernel!",
    ),
    "addcmul": (
        lambda: torch.addcmul(cuda(3), torch.tensor(1.0), cuda(3)),
        "CPU Scalar support for tensor1 argument is not supported when calling addcmul on CUDA tensors. However, CPU "
        "Scalar support for tensor2 is supported, please swap your tensor1 and tensor2 terms.",
    ),
    # the generated check: the first tensor of the schema is the reference, and there is no 0-dim exception
    "linear": (
        lambda: nn.Linear(3, 2).cuda()(torch.ones(4, 3)),
        text_b("mat1", "cpu", "cuda:0", "wrapper_CUDA_addmm"),
    ),
    "linear, 3-dim input": (
        lambda: nn.Linear(3, 2).cuda()(torch.ones(4, 5, 3)),
        text_b("mat1", "cpu", "cuda:0", "wrapper_CUDA_addmm"),
    ),
    "model unmoved": (lambda: nn.Linear(3, 2)(cuda(4, 3)), text_b("mat1", "cuda:0", "cpu", "wrapper_CUDA_addmm")),
    "no bias": (
        lambda: nn.Linear(3, 2, bias=False).cuda()(torch.ones(4, 3)),
        text_b("mat2", "cuda:0", "cpu", "wrapper_CUDA_mm"),
    ),
    "cat": (lambda: torch.cat([cuda(1), torch.ones(1)]), text_b("tensors", "cpu", "cuda:0", "wrapper_CUDA_cat")),
    "stack of 0-dim": (
        lambda: torch.stack([cuda(), torch.tensor(1.0)]),
        text_b("tensors", "cpu", "cuda:0", "wrapper_CUDA_cat"),
    ),
    "clamp": (
        lambda: cuda(3).clamp(min=torch.tensor(0.0)),
        text_b("min", "cpu", "cuda:0", "wrapper_CUDA_clamp_Tensor"),
    ),
    "embedding": (
        lambda: nn.Embedding(4, 3).cuda()(torch.tensor([1])),
        text_b("index", "cpu", "cuda:0", "wrapper_CUDA__index_select"),
    ),
    "target": (
        lambda: F.cross_entropy(cuda(2, 3), torch.tensor([0, 1])),
        text_b("target", "cpu", "cuda:0", "wrapper_CUDA_nll_loss_forward"),
    ),
    "batch norm": (
        lambda: nn.BatchNorm1d(3).cuda()(torch.ones(4, 3)),
        text_b("weight", "cuda:0", "cpu", "wrapper_CUDA__native_batch_norm"),
    ),
    "batch norm of images": (
        lambda: nn.BatchNorm2d(3)(cuda(2, 3, 4, 4)),
        text_b("weight", "cpu", "cuda:0", "wrapper_CUDA__cudnn_batch_norm"),
    ),
    "attention": (
        lambda: nn.MultiheadAttention(4, 2).cuda()(*[torch.ones(3, 1, 4)] * 3),
        text_b("mat1", "cpu", "cuda:0", "wrapper_CUDA_addmm"),
    ),
    # checks written by hand in single kernels
    "conv, input on the cpu": (
        lambda: nn.Conv2d(3, 4, 3).cuda()(torch.ones(2, 3, 8, 8)),
        "Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the same or input should be "
        "a MKLDNN tensor and weight is a dense tensor",
    ),
    "conv, weight on the cpu": (
        lambda: nn.Conv2d(3, 4, 3)(cuda(2, 3, 8, 8)),
        "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same",
    ),
    "conv, two gpus": (
        lambda: nn.Conv2d(3, 4, 3).cuda(1)(cuda(2, 3, 8, 8)),
        text_b("weight", "cuda:1", "cuda:0", "wrapper_CUDA__cudnn_convolution"),
    ),
    "conv of one dimension, small": (
        lambda: nn.Conv1d(3, 4, 5).cuda()(torch.ones(1, 3, 8)),
        text_b("weight", "cuda:0", "cpu", "wrapper_CUDA___slow_conv2d_forward"),
    ),
    "depthwise conv": (
        lambda: nn.Conv2d(4, 4, 3, groups=4)(cuda(2, 4, 8, 8)),
        text_b("weight", "cpu", "cuda:0", "wrapper_CUDA___conv_depthwise2d"),
    ),
    "dilated conv": (
        lambda: nn.Conv2d(3, 4, 3, dilation=2).cuda()(torch.ones(1, 3, 9, 9)),
        text_b("weight", "cuda:0", "cpu", "wrapper_CUDA__slow_conv_dilated2d"),
    ),
    "transposed conv": (
        lambda: nn.ConvTranspose2d(3, 4, 3).cuda()(torch.ones(1, 3, 8, 8)),
        text_b("weight", "cuda:0", "cpu", "wrapper_CUDA_slow_conv_transpose2d"),
    ),
    "transposed conv, two gpus": (
        lambda: nn.ConvTranspose2d(3, 4, 3).cuda(1)(cuda(2, 3, 8, 8)),
        text_b("weight", "cuda:1", "cuda:0", "wrapper_CUDA__cudnn_convolution_transpose"),
    ),
    "lstm": (
        lambda: nn.LSTM(3, 4).cuda()(torch.ones(2, 1, 3)),
        "Input and parameter tensors are not at the same device, found input tensor at cpu "
        "and parameter tensor at cuda:0",
    ),
    "lstm, packed": (  # left to its operators
        lambda: nn.LSTM(3, 4).cuda()(nn.utils.rnn.pack_sequence([torch.ones(2, 3)])),
        text_b("mat1", "cpu", "cuda:0", "wrapper_CUDA_addmm"),
    ),
    "gru without biases, packed": (
        lambda: nn.GRU(3, 4, bias=False).cuda()(nn.utils.rnn.pack_sequence([torch.ones(2, 3)])),
        text_b("mat2", "cuda:0", "cpu", "wrapper_CUDA_mm"),
    ),
    "the state of a packed lstm": (
        lambda: nn.LSTM(3, 4)(nn.utils.rnn.pack_sequence([torch.ones(2, 3)]), (cuda(1, 1, 4), cuda(1, 1, 4))),
        text_b("mat1", "cuda:0", "cpu", "wrapper_CUDA_addmm"),
    ),
    "lstm, packed on a gpu": (
        lambda: nn.LSTM(3, 4)(nn.utils.rnn.pack_sequence([cuda(2, 3)])),
        "Input and parameter tensors are not at the same device, found input tensor at cuda:0 "
        "and parameter tensor at cpu",
    ),
    "cdist of many rows": (
        lambda: torch.cdist(torch.ones(64, 3), cuda(2, 3)),
        "X1 and X2 must have the same device type. X1: cpu X2: cuda",
    ),
    "cdist of few rows": (
        lambda: torch.cdist(torch.ones(4, 3), cuda(2, 3)),
        text_b("x2", "cuda:0", "cpu", "wrapper_CUDA___cdist_forward"),
    ),
    # shapes that do not fit come before devices that do not
    "sizes": (
        lambda: cuda(2, 3) - torch.ones(2, 4),
        "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
    ),
    "sizes of where": (
        lambda: torch.where(cuda(3) > 0, cuda(3), torch.ones(2, 2)),
        "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 1",
    ),
    "the size of what is written to": (
        lambda: cuda(2, 1).add_(torch.ones(2, 4)),
        "output with shape [2, 1] doesn't match the broadcast shape [2, 4]",
    ),
    "an array into a gpu": (
        lambda: cuda(3).__setitem__(0, numpy.ones(1)),
        "can't assign a numpy.ndarray to a torch.cuda.FloatTensor",
    ),
    "random state": (
        lambda: torch.set_rng_state(torch.get_rng_state().cuda()),
        "RNG state must be a torch.ByteTensor",
    ),
    "random state of a generator": (
        lambda: torch.Generator().set_state(torch.get_rng_state().cuda()),
        "RNG state must be a torch.ByteTensor",
    ),
    "random state of a gpu's generator": (
        lambda: torch.Generator("cuda").set_state([0]),
        "expected a torch.ByteTensor, but got list",
    ),
    "a parameter's device": (
        lambda: nn.Parameter(torch.ones(3), device="cuda"),
        "Parameter.__new__() got an unexpected keyword argument 'device'",
    ),
    "a cell's weights": (
        lambda: nn.GRUCell(3, 4)(cuda(2, 3)),
        text_b("mat2", "cpu", "cuda:0", "wrapper_CUDA_mm"),
    ),
    "matrix and vector": (
        lambda: torch.ones(2, 3) @ cuda(3),
        text_b("mat", "cpu", "cuda:0", "wrapper_CUDA_addmv_"),
    ),
    "cosine similarity": (
        lambda: F.cosine_similarity(cuda(2, 3), torch.ones(2, 3)),
        text_b("min", "cuda:0", "cpu", "wrapper_CUDA_clamp_min__Tensor"),
    ),
    "quantile": (
        lambda: torch.quantile(cuda(3), torch.tensor([0.5])),
        "quantile() q tensor must be on the same device as the input tensor",
    ),
    "hidden state": (
        lambda: nn.GRU(3, 4).cuda()(cuda(2, 1, 3), torch.zeros(1, 1, 4)),
        "Input and hidden tensors are not at the same device, found input tensor at cuda:0 and hidden tensor at cpu",
    ),
    "index": (
        lambda: torch.ones(3)[torch.tensor([0], device="cuda")],
        "indices should be either on cpu or on the same device as the indexed tensor (cpu)",
    ),
    "assignment": (lambda: cuda(3).__setitem__(torch.tensor([0, 1]), torch.ones(2)), f"{SAME}found at least two "
        "devices, cuda:0 and cpu!"),
    "accumulating assignment": (
        lambda: cuda(3).index_put_((torch.tensor([0, 1]),), torch.ones(2), accumulate=True),
        "expected device cuda:0 but got device cpu for value tensor",
    ),
    "masked_fill": (
        lambda: cuda(2).masked_fill(torch.tensor([True, False]), 0.0),
        "expected self and mask to be on the same device, but got mask on cpu and self on cuda:0",
    ),
    "masked_fill of a cpu tensor": (
        lambda: torch.ones(2).masked_fill(torch.ones(2, dtype=torch.bool, device="cuda"), 0.0),
        "expected self and mask to be on the same device, but got mask on cuda:0 and self on cpu",
    ),
    "reduction into": (
        lambda: torch.mean(cuda(3), 0, out=torch.ones(())),
        "Expected out tensor to have device cuda:0, but got cpu instead",
    ),
    "reduction of a cpu tensor into": (
        lambda: torch.mean(torch.ones(3), 0, out=cuda()),
        "CUDAGuardImpl initialized with non-CUDA DeviceType: cpu",
    ),
    "attention of two": (
        lambda: F.scaled_dot_product_attention(cuda(1, 2, 3, 4), torch.ones(1, 2, 3, 4), cuda(1, 2, 3, 4)),
        "Expected query, key, and value to have the same device type, but got query.device: cuda:0 key.device: cpu "
        "and value.device: cuda:0 instead.",
    ),
    "lengths": (
        lambda: nn.utils.rnn.pack_padded_sequence(cuda(3, 2, 4), torch.tensor([3, 2], device="cuda")),
        "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor",
    ),
    # generators, constructors, pinning
    "generator": (
        lambda: torch.randn(2, device="cuda", generator=torch.Generator()),
        "Expected a 'cuda' device type for generator but found 'cpu'",
    ),
    "generator of an in-place op": (
        lambda: cuda(2).uniform_(generator=torch.Generator()),
        "Expected a 'cuda' device type for generator but found 'cpu'",
    ),
    "generator of a gpu": (
        lambda: torch.randn(2, generator=torch.Generator("cuda")),
        "Expected a 'cpu' device type for generator but found 'cuda'",
    ),
    "legacy constructor": (
        lambda: torch.Tensor([1.0], device="cuda"),
        "legacy constructor expects device type: cpu but device type: cuda was passed",
    ),
    "pinning": (
        lambda: cuda(2).pin_memory(),
        "cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned",
    ),
    "one vector": (
        lambda: nn.utils.parameters_to_vector([cuda(2), cuda(2, index=1)]),
        "Found two parameters on different devices, this is currently not supported.",
    ),
    "numpy": (
        lambda: numpy.asarray(cuda(2)),
        "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.",
    ),
    # dtypes, where the CPU has other words
    "product of two dtypes": (
        lambda: cuda(2, 3) @ cuda(3, 2).half(),
        "expected mat1 and mat2 to have the same dtype, but got: float != c10::Half",
    ),
    "linear of another dtype, no bias": (
        lambda: nn.Linear(3, 2, bias=False).cuda()(cuda(2, 3).double()),
        "expected mat1 and mat2 to have the same dtype, but got: double != float",
    ),
    "convolution of another dtype": (
        lambda: F.conv2d(cuda(1, 2, 4, 4).half(), cuda(2, 2, 2, 2)),
        "Input type (torch.cuda.HalfTensor) and weight type (torch.cuda.FloatTensor) should be the same",
    ),
    "convolution of integers": (
        lambda: F.conv2d(cuda(1, 2, 4, 4).byte(), cuda(2, 2, 2, 2)),
        "Input type (torch.cuda.ByteTensor) and weight type (torch.cuda.FloatTensor) should be the same",
    ),
    "dilated convolution of another dtype": (
        lambda: F.conv3d(cuda(1, 2, 4, 4, 4).double(), cuda(2, 2, 2, 2, 2), dilation=2),
        "Input type (torch.cuda.DoubleTensor) and weight type (torch.cuda.FloatTensor) should be the same",
    ),
    "transposed convolution of another dtype": (
        lambda: F.conv_transpose2d(cuda(1, 2, 4, 4).half(), cuda(2, 2, 2, 2)),
        "Input type (torch.cuda.HalfTensor) and weight type (torch.cuda.FloatTensor) should be the same",
    ),
    "depthwise convolution of another dtype": (
        lambda: F.conv2d(cuda(1, 2, 4, 4).half(), cuda(2, 1, 2, 2), groups=2),
        "expected scalar type Half but found Float",
    ),
    "bias of another dtype": (
        lambda: nn.Conv2d(2, 2, 2).cuda()(cuda(1, 2, 4, 4).half()),
        "Input type (c10::Half) and bias type (float) should be the same",
    ),
    "embedding of floats": (
        lambda: nn.Embedding(3, 2).cuda()(cuda(2)),
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
        "torch.cuda.FloatTensor instead (while checking arguments for embedding)",
    ),
    "embedding bag of floats": (
        lambda: F.embedding_bag(cuda(2, 2), cuda(3, 2)),
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
        "torch.cuda.FloatTensor instead (while checking arguments for embedding_bag_cuda)",
    ),
    "embedding of floats with a norm": (
        lambda: nn.Embedding(3, 2, max_norm=1.0).cuda()(cuda(2)),
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
        "torch.cuda.FloatTensor instead (while checking arguments for embedding_renorm_)",
    ),
    "mask of floats": (
        lambda: cuda(3).masked_fill(cuda(3), 1.0),
        "masked_fill only supports boolean masks, but got dtype Float",
    ),
    "mask of bytes": (
        lambda: cuda(3).masked_fill_(cuda(3).byte(), cuda()),
        "masked_fill only supports boolean masks, but got dtype Byte",
    ),
    "masked_scatter of another dtype": (
        lambda: cuda(3).masked_scatter(cuda(3).bool(), cuda(3).half()),
        "masked_scatter_: expected self and source to have same dtypes but got Float and Half",
    ),
    "masked_scatter by floats": (
        lambda: cuda(3).masked_scatter_(cuda(3), cuda(3)),
        "masked_scatter_ only supports boolean masks, but got mask with dtype float",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refuses_with_the_text_of_pytorch(case: str) -> None:
    use, text = REFUSED[case]
    with pytest.raises((RuntimeError, TypeError)) as refusal:
        use()
    assert str(refusal.value) == text


ALLOWED: dict[str, tuple[Callable[[], torch.Tensor], str]] = {
    "cuda + 0-dim cpu": (lambda: cuda(3) + torch.tensor(1.0), "cuda:0"),
    "0-dim cpu - cuda": (lambda: torch.tensor(1.0) - cuda(3, index=1), "cuda:1"),
    "comparison": (lambda: cuda(3) > torch.tensor(0.5), "cuda:0"),
    "where": (lambda: torch.where(cuda(3) > 0, torch.tensor(1.0), torch.tensor(0.0)), "cuda:0"),
    "cuda[cpu]": (lambda: cuda(3)[torch.tensor([0, 2])], "cuda:0"),
    "cuda[cpu mask]": (lambda: cuda(2)[torch.tensor([True, False])], "cuda:0"),
    "cpu[0-dim cuda]": (lambda: torch.ones(3)[torch.tensor(1, device="cuda")], "cpu"),
    "copy_": (lambda: torch.ones(3).copy_(cuda(3)), "cpu"),
    "type_as": (lambda: torch.ones(3).type_as(cuda(3)), "cuda:0"),
    "*_like": (lambda: torch.zeros_like(cuda(3, index=1)), "cuda:1"),
    "new_*": (lambda: cuda(3).new_tensor([1.0]), "cuda:0"),
    "tensor of a list of tensors": (lambda: torch.tensor([cuda(), cuda()]), "cpu"),
    "ctc targets": (
        lambda: F.ctc_loss(cuda(5, 1, 3).log_softmax(2), torch.tensor([[1]]), torch.tensor([5]), torch.tensor([1])),
        "cuda:0",
    ),
}


@pytest.mark.parametrize("case", ALLOWED)
def test_allows_what_pytorch_allows(case: str) -> None:
    use, device = ALLOWED[case]
    assert str(use().device) == device


def test_assigning_through_foreign_indices_and_slices_stays_in_place() -> None:
    here = torch.zeros(4)
    here[torch.tensor([0, 1], device="cuda")] = torch.ones(2)
    here[2:] = cuda(2)
    assert (str(here.device), here.tolist()) == ("cpu", [1, 1, 1, 1])


def test_a_view_made_inside_an_operator_is_still_the_programs() -> None:
    table = torch.zeros(2, 3)
    with pytest.raises(RuntimeError, match="found at least two devices, cuda:0 and cpu!"):
        table[0, torch.tensor([0, 1])] = cuda(2)
    assert table.sum() == 0
