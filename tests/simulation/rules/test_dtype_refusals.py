"""Dtypes and shapes that CUDA's kernels refuse, and how: each text is what PyTorch's CUDA build says."""

from collections.abc import Callable

import pytest
import torch
from ones import cpu, cuda
from torch import nn
from torch.nn import functional as F  # noqa: N812


@pytest.fixture(autouse=True)
def simulation(two_gpus: None) -> None: ...


LONG = torch.long
UNCOMPUTED: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "mm of integers": (
        lambda: cuda(2, 2, dtype=LONG) @ cuda(2, 2, dtype=LONG),
        NotImplementedError,
        "\"addmm_cuda\" not implemented for 'Long'",
    ),
    "mm of bools": (
        lambda: torch.mm(cuda(2, 2, dtype=torch.bool), cuda(2, 2, dtype=torch.bool)),
        NotImplementedError,
        "\"addmm_cuda\" not implemented for 'Bool'",
    ),
    "mm of two dtypes": (
        lambda: torch.mm(cuda(2, 2, dtype=LONG), cuda(2, 2)),
        RuntimeError,
        "expected mat1 and mat2 to have the same dtype, but got: long int != float",
    ),
    "mm of shapes that do not fit": (
        lambda: torch.mm(cuda(2, 3, dtype=LONG), cuda(2, 2, dtype=LONG)),
        RuntimeError,
        "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x2)",
    ),
    "bmm of integers": (
        lambda: torch.bmm(cuda(2, 2, 2, dtype=LONG), cuda(2, 2, 2, dtype=LONG)),
        NotImplementedError,
        "\"baddbmm_cuda\" not implemented for 'Long'",
    ),
    "mv of integers": (
        lambda: torch.mv(cuda(2, 2, dtype=LONG), cuda(2, dtype=LONG)),
        NotImplementedError,
        "\"addmv_impl_cuda\" not implemented for 'Long'",
    ),
    "dot of no integers": (
        lambda: torch.dot(cuda(0, dtype=LONG), cuda(0, dtype=LONG)),
        NotImplementedError,
        "\"dot\" not implemented for 'Long'",
    ),
    "layer_norm of float16": (
        lambda: nn.LayerNorm(3).cuda()(cuda(2, 3).half()),
        RuntimeError,
        "expected scalar type Half but found Float",
    ),
    "layer_norm of float64": (
        lambda: nn.LayerNorm(3).cuda()(cuda(2, 3).double()),
        RuntimeError,
        "expected scalar type Double but found Float",
    ),
    "group_norm of float16": (
        lambda: nn.GroupNorm(2, 4).cuda()(cuda(2, 4).half()),
        RuntimeError,
        "expected scalar type Half but found Float",
    ),
    "an LSTMCell's input": (
        lambda: nn.LSTMCell(2, 3).cuda()(cuda(1, 2).double()),
        RuntimeError,
        "expected mat1 and mat2 to have the same dtype, but got: double != float",
    ),
    "an LSTMCell's memory": (
        lambda: nn.LSTMCell(2, 3).cuda()(cuda(1, 2), (cuda(1, 3), cuda(1, 3).double())),
        RuntimeError,
        "expected scalar type Float but found Double",
    ),
}


NLL, ONE, TWO = "nll_loss_forward", "cuda_kernel_1d", "cuda_kernel_2d"
MAX_POOL = "max_pool2d_with_indices_out_cuda_frame"

# What CUDA's kernels refuse, by the names that they have there.
KERNELS: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    **{
        name: (call, NotImplementedError, f"\"{kernel}\" not implemented for '{dtype}'")
        for name, call, kernel, dtype in (
            ("silu", lambda: F.silu(cuda(2, dtype=LONG)), "silu_cuda", "Long"),
            ("softmax", lambda: cuda(2, dtype=LONG).softmax(0), "host_softmax", "Long"),
            ("polygamma", lambda: torch.polygamma(1, cuda(2, dtype=torch.complex64)), "trigamma_cuda", "ComplexFloat"),
            ("mse_loss", lambda: F.mse_loss(cuda(2, dtype=LONG), cuda(2, dtype=LONG)), "mse_cuda", "Long"),
            (
                "nll_loss",
                lambda: F.nll_loss(cuda(2, 3, dtype=LONG), cuda(2, dtype=LONG)),
                f"{NLL}_reduce_{TWO}",
                "Long",
            ),
            (
                "nll_loss of one",
                lambda: F.nll_loss(cuda(3, dtype=LONG), cuda(dtype=LONG)),
                f"{NLL}_reduce_{ONE}",
                "Long",
            ),
            ("aminmax", lambda: cuda(2, dtype=torch.complex64).aminmax(), "aminmax_all_cuda", "ComplexFloat"),
            ("randn", lambda: torch.randn(2, device="cuda", dtype=LONG), "normal_kernel_cuda", "Long"),
            ("arange", lambda: torch.arange(2, device="cuda", dtype=torch.complex64), "arange_cuda", "ComplexFloat"),
            ("max_pool2d", lambda: F.max_pool2d(cuda(1, 1, 4, 4, dtype=LONG), 2), MAX_POOL, "Long"),
            ("max_pool2d of booleans", lambda: F.max_pool2d(cuda(1, 1, 4, 4, dtype=torch.bool), 2), MAX_POOL, "Bool"),
            ("avg_pool2d", lambda: F.avg_pool2d(cuda(1, 1, 4, 4, dtype=LONG), 2), "avg_pool2d_out_cuda_frame", "Long"),
            (
                "bilinear",
                lambda: F.bilinear(*[cuda(1, 2, dtype=LONG)] * 2, cuda(3, 2, 2, dtype=LONG)),
                "baddbmm_cuda",
                "Long",
            ),
            ("interpolate", lambda: images(torch.uint8, "bilinear"), "upsample_bilinear2d_out_frame", "Byte"),
            ("interpolate of integers", lambda: images(LONG, "bicubic"), "upsample_bicubic2d_out_frame", "Long"),
            ("interpolate exactly", lambda: images(LONG, "nearest-exact"), "upsample_nearest2d_out_frame", "Long"),
            ("scatter_reduce", lambda: reduced(torch.bool, "prod"), "cuda_scatter_gather_base_kernel_func", "Bool"),
            ("angle", lambda: torch.angle(cuda(2).half()), "angle_cuda", "Half"),
            ("igamma", lambda: torch.igamma(cuda(2).half(), cuda(2).half()), "igamma_cuda", "Half"),
            (
                "embedding_bag",
                lambda: F.embedding_bag(cuda(1, 2, dtype=LONG), cuda(3, 2, dtype=LONG)),
                "embedding_bag_cuda",
                "Long",
            ),
        )
    },
    "bernoulli": (
        lambda: torch.bernoulli(cuda(2, dtype=LONG)),
        RuntimeError,
        "expected probabilities tensor to have floating type, got Long",
    ),
    "median": (
        lambda: torch.median(cuda(2, dtype=torch.complex64)),
        RuntimeError,
        " Sort does not support complex dtypes on CPU",
    ),
    "histc": (lambda: torch.histc(cuda(2).half()), RuntimeError, "HalfTensor is not supported"),
    "stft": (
        lambda: torch.stft(cuda(16, dtype=LONG), 4, return_complex=True, window=cuda(4)),
        RuntimeError,
        "stft(torch.cuda.LongTensor[20], n_fft=4, hop_length=1, win_length=4, window=torch.cuda.FloatTensor{[4]}, "
        "normalized=0, onesided=None, return_complex=1, align_to_window=None) : expected a tensor of floating point "
        "or complex values",
    ),
    "expand": (
        lambda: cuda(3).expand([]),
        RuntimeError,
        "expand(torch.cuda.FloatTensor{[3]}, size=[]): the number of sizes provided (0) must be greater or equal to "
        "the number of dimensions in the tensor (1)",
    ),
    "a batch norm of float64": (
        lambda: nn.BatchNorm1d(2).cuda()(cuda(2, 2).double()),
        RuntimeError,
        "expected scalar type Double but found Float",
    ),
    "a batch norm with weights of float16": (
        lambda: nn.BatchNorm1d(2).cuda().half().eval()(cuda(2, 2)),
        RuntimeError,
        "expected scalar type Float but found Half",
    ),
    "a batch norm of images of float64": (
        lambda: nn.BatchNorm2d(2).cuda()(cuda(2, 2, 2, 2).double()),
        RuntimeError,
        "Expected tensor for argument #1 'input' to have the same type as tensor for argument #2 'weight'; but type "
        "torch.cuda.DoubleTensor does not equal torch.cuda.FloatTensor (while checking arguments for cudnn_batch_norm)",
    ),
    "the statistics of a batch norm": (
        lambda: F.batch_norm(cuda(2, 2, 2), cpu(3), cuda(2), cuda(2), cuda(2), training=True),
        RuntimeError,
        "running_mean should contain 2 elements not 3",
    ),
    "a convolution's weight of complex numbers": (
        lambda: F.conv2d(cuda(1, 1, 4, 4), cuda(1, 1, 1, 1, dtype=torch.complex64)),
        RuntimeError,
        "Input type (torch.cuda.FloatTensor) and weight type (CUDAComplexFloatType) should be the same",
    ),
    "a convolution's bias of float64": (
        lambda: F.conv_transpose2d(cuda(1, 1, 4, 4), cuda(1, 1, 1, 1), cuda(1).double()),
        RuntimeError,
        "Input type (torch.cuda.FloatTensor) and bias type (torch.cuda.DoubleTensor) should be the same",
    ),
    "a convolution of booleans": (
        lambda: F.conv3d(cuda(1, 1, 4, 4, 4, dtype=torch.bool), cuda(1, 1, 1, 1, 1)),
        RuntimeError,
        "Input type (CUDABoolType) and weight type (torch.cuda.FloatTensor) should be the same",
    ),
    "the weights of a group_norm": (
        lambda: F.group_norm(cuda(1, 2, 3), 2, cuda(2).double(), cuda(2).double()),
        RuntimeError,
        "mixed dtype (CPU): expect parameter to have scalar type of Float",  # CUDA, too, says so
    ),
    "a layer_norm of integers": (
        lambda: nn.LayerNorm(3).cuda()(cuda(2, 3, dtype=LONG)),
        NotImplementedError,
        "\"LayerNormKernelImpl\" not implemented for 'Long'",
    ),
    "an rms_norm of two dtypes": (
        lambda: F.rms_norm(cuda(2, 3), [3], cpu(3, dtype=torch.float64)),
        RuntimeError,
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
    ),
    "a cross product of two dtypes": (
        lambda: torch.linalg.cross(cuda(3), cuda(3).double()),
        RuntimeError,
        "Found dtype Double but expected Float",
    ),
    "complex indices": (
        lambda: F.embedding(cuda(2, dtype=torch.complex64), cuda(3, 2)),
        RuntimeError,
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
        "CUDAComplexFloatType instead (while checking arguments for embedding)",
    ),
    "a batch norm of images with weights of bfloat16": (
        lambda: nn.BatchNorm2d(2).cuda().bfloat16()(cuda(2, 2, 2, 2)),
        RuntimeError,
        "Expected weight to have type Float but got BFloat16",
    ),
    "index_reduce of two dtypes": (
        lambda: torch.index_reduce(cuda(2, dtype=torch.bool), 0, cuda(1, dtype=LONG), cuda(1), "prod"),
        RuntimeError,
        "index_reduce_(): self (Bool) and source (Float) must have the same scalar type",
    ),
    "the dtype of a quantile's out=": (
        lambda: torch.quantile(cuda(2), 0.5, out=cpu(dtype=torch.float64)),
        RuntimeError,
        "quantile() out tensor must be same dtype as the input tensor",
    ),
    "the dtype of a cumulative maximum's out=": (
        lambda: torch.cummax(cuda(2), 0, out=(cpu(2, dtype=LONG), cpu(2, dtype=LONG))),
        RuntimeError,
        "expected scalar_type Float but found Long",
    ),
    "a number that is split": (
        lambda: torch.tensor_split(cuda(), cuda(1, dtype=LONG)),
        RuntimeError,
        "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims",
    ),
    "a number that is solved for": (
        lambda: torch.cholesky_solve(cpu(), cuda(2, 2)),
        RuntimeError,
        "b should have at least 2 dimensions, but has 0 dimensions instead",
    ),
    "a number times a vector": (
        lambda: torch.mv(cpu(), cuda(2)),
        IndexError,
        "Dimension specified as 0 but tensor has no dimensions",
    ),
    "trace": (lambda: torch.trace(cuda(2)), RuntimeError, "expected a matrix"),
    "the shape of a difference": (
        lambda: torch.rsub(cuda(2), cpu(3)),
        RuntimeError,
        "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 0",
    ),
}


def images(dtype: torch.dtype, mode: str) -> torch.Tensor:
    return F.interpolate(cuda(1, 1, 4, 4, dtype=dtype), scale_factor=2, mode=mode)


def reduced(dtype: torch.dtype, reduce: str) -> torch.Tensor:
    return torch.scatter_reduce(cuda(2, dtype=dtype), 0, cuda(2, dtype=LONG) - 1, cuda(2, dtype=dtype), reduce)


ALL = UNCOMPUTED | KERNELS
if torch.__version__ >= "2.15":
    for changed, said in {
        "mm of shapes that do not fit": (RuntimeError, "mm: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x2)"),
        "aminmax": (TypeError, "aminmax not implemented for ComplexFloat"),
    }.items():
        ALL[changed] = (ALL[changed][0], *said)


@pytest.mark.parametrize(("call", "kind", "text"), ALL.values(), ids=ALL)
def test_what_cuda_refuses(call: Callable[[], object], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as refusal:
        call()
    assert str(refusal.value) == text


def test_integers_without_elements_reach_no_kernel() -> None:
    assert torch.mm(cuda(2, 0, dtype=LONG), cuda(0, 2, dtype=LONG)).tolist() == [[0, 0], [0, 0]]
    assert torch.bmm(cuda(0, 2, 2, dtype=LONG), cuda(0, 2, 2, dtype=LONG)).shape == (0, 2, 2)
    assert nn.LayerNorm(3).cuda()(cuda(0, 3).half()).shape == (0, 3)


def test_a_batch_norm_keeps_its_statistics_in_their_own_dtype() -> None:
    norm = nn.BatchNorm1d(2, affine=False).cuda()
    assert norm(torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64, device="cuda")).dtype is torch.float64
    assert norm.running_mean is not None and norm.running_mean.dtype is torch.float32
    assert norm.running_mean.tolist() == pytest.approx([0.2, 0.3])


def test_a_refused_product_changes_nothing() -> None:
    total = cuda(2, 2, dtype=LONG)
    with pytest.raises(NotImplementedError, match="addmm_cuda"):
        total.addmm_(cuda(2, 2, dtype=LONG), cuda(2, 2, dtype=LONG))
    assert total.tolist() == [[1, 1], [1, 1]]


@pytest.mark.filterwarnings("ignore:The reduce argument of torch.scatter")
def test_only_numbers_are_multiplied_as_they_are_scattered() -> None:
    places = torch.tensor([0], device="cuda")
    for dtype, name in ((torch.complex64, "ComplexFloat"), (torch.bool, "Bool")):
        for source, kernel in (
            (cuda(1, dtype=dtype), "gather_base_kernel_func"),
            (1, "fill_base_kernel_reduce_multiply"),
        ):
            with pytest.raises(NotImplementedError) as refusal:
                cuda(2, dtype=dtype).scatter_(0, places, source, reduce="multiply")
            assert str(refusal.value) == f"\"cuda_scatter_{kernel}\" not implemented for '{name}'"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("other", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_depthwise_convolution_of_two_dtypes_speaks_of_no_processor(dtype: torch.dtype, other: torch.dtype) -> None:
    inputs, weight = cuda(1, 2, 5, 5, dtype=dtype), cuda(2, 1, 3, 3, dtype=other)
    if dtype is other:
        assert F.conv2d(inputs, weight, groups=2).dtype is dtype
        return
    with pytest.raises(RuntimeError) as refusal:
        F.conv2d(inputs, weight, groups=2)
    names = {torch.float16: "Half", torch.bfloat16: "BFloat16", torch.float32: "Float", torch.float64: "Double"}
    assert str(refusal.value) == f"expected scalar type {names[dtype]} but found {names[other]}"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bool, torch.int16])
def test_places_of_another_dtype_have_no_kernel_that_selects(dtype: torch.dtype) -> None:
    for values in (cuda(3), cuda(3, dtype=torch.complex64)):
        with pytest.raises(NotImplementedError) as refusal:
            values.index_select(0, cuda(2, dtype=dtype))
        name = {torch.float32: "Float", torch.float16: "Half", torch.bool: "Bool", torch.int16: "Short"}[dtype]
        assert str(refusal.value) == f"\"index_select_out_cuda_impl\" not implemented for '{name}'"
    assert cuda(3).index_select(0, cuda(2, dtype=torch.int32)).tolist() == [1.0, 1.0]


def test_indexing_looks_at_the_dtype_before_it_sees_that_nothing_is_selected() -> None:
    for values in (cuda(0).to(torch.uint32), cuda(3).to(torch.uint32)):
        for places in (torch.zeros_like(values, dtype=torch.bool), cuda(0, dtype=torch.long)):
            with pytest.raises(NotImplementedError) as refusal:
                values[places]
            assert str(refusal.value) == "\"index_cuda\" not implemented for 'UInt32'"
    assert cuda(0)[cuda(0, dtype=torch.bool)].shape == (0,)
