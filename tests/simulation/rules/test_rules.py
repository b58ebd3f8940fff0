"""Checks that PyTorch makes where functions begin: by any name, with out=, in inference mode, for meta tensors.

Every text is what PyTorch 2.13's CUDA build says.
"""

import warnings
from collections.abc import Callable

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from samedevice.simulation.patches import nn
from samedevice.simulation.rules import checks, composite_checks, composite_kernels, linear_algebra, native_functions

# Bound before any simulation, as libraries bind them.
from torch import logspace  # isort: skip
from torch.linalg import multi_dot  # isort: skip
from torch.nn.functional import cosine_similarity, scaled_dot_product_attention  # isort: skip

SAME = "Expected all tensors to be on the same device, but "


@pytest.fixture(autouse=True)
def simulation(two_gpus: None) -> None: ...


def text_b(argument: str, device: str, reference: str, method: str) -> str:
    return (
        f"{SAME}got {argument} is on {device}, different from other tensors on {reference} "
        f"(when checking argument in method {method})"
    )


def on_result(function: str, result: str, inputs: str, name: str = "result") -> str:
    return (
        f"{function}: Expected {name} and input tensors to be on the same device, "
        f"but got {name} on {result} and input on {inputs}"
    )


def cuda(*shape: int, index: int = 0) -> torch.Tensor:
    return torch.ones(shape, device=f"cuda:{index}")


def cpu(*shape: int) -> torch.Tensor:
    return torch.ones(shape)


def meta(*shape: int) -> torch.Tensor:
    return torch.ones(shape, device="meta")


def invalid(node: str, expected: str, given: str) -> str:
    return (
        f"Function {node}Backward0 returned an invalid gradient at index 1 - expected device {expected} but got {given}"
    )


NO_GPU = "CUDAGuardImpl initialized with non-CUDA DeviceType: cpu"
SQUARE = torch.eye(3)


def weighted_loss(weight: torch.Tensor) -> torch.Tensor:
    loss = F.binary_cross_entropy(cuda().requires_grad_(), cuda(), weight)
    loss.weight = weight  # the program holds its weight until the backward
    return loss


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    # names bound before the simulation began
    "a bound multi_dot": (
        lambda: multi_dot([cuda(2, 3), cpu(3, 2)]),
        "multi_dot(): all tensors must be on the same device but tensor 0 is on cuda:0 and tensor 1 on cpu",
    ),
    "a bound attention": (
        lambda: scaled_dot_product_attention(cuda(1, 2, 3, 4), cuda(1, 2, 3, 4), cpu(1, 2, 3, 4)),
        "Expected query, key, and value to have the same device type, but got query.device: cuda:0 "
        "key.device: cuda:0 and value.device: cpu instead.",
    ),
    "a bound cosine_similarity": (
        lambda: cosine_similarity(cpu(2, 3), cuda(2, 3)),
        text_b("min", "cpu", "cuda:0", "wrapper_CUDA_clamp_min__Tensor"),
    ),
    # out= of functions that copy their result into it
    "multi_dot into": (
        lambda: multi_dot([cuda(2, 3), cuda(3, 2)], out=cpu(2, 2)),
        "multi_dot(): expected out tensor to be on device cuda:0 but got cpu",
    ),
    "norm into": (lambda: torch.linalg.norm(cuda(3), out=cpu()), on_result("linalg.norm", "cuda:0", "cpu")),
    "nuclear norm into": (
        lambda: torch.norm(cuda(3, 3), p="nuc", out=cpu()),
        on_result("linalg.matrix_norm", "cuda:0", "cpu"),
    ),
    "tensorinv into": (
        lambda: torch.linalg.tensorinv(torch.eye(6).cuda().reshape(2, 3, 6), out=cpu(6, 2, 3)),
        on_result("tensorinv", "cpu", "cuda:0"),
    ),
    "pinv into": (lambda: torch.linalg.pinv(cuda(3, 3), out=cpu(3, 3)), on_result("linalg.pinv", "cpu", "cuda:0")),
    "rank with a tolerance elsewhere": (
        lambda: torch.linalg.matrix_rank(SQUARE, tol=cuda()),
        on_result("torch.linalg.matrix_rank", "cuda:0", "cpu", "atol"),
    ),
    "dot into": (
        lambda: torch.dot(cuda(3), cuda(3), out=cpu()),
        "dot: Expected the output and input tensors to be on the same device, but got the output tensor on cpu, "
        "the 'input' tensor on cuda:0, and the 'other' tensor on cuda:0",
    ),
    "matrix and vector into": (
        lambda: torch.matmul(cuda(2, 2, 3), cuda(3), out=cpu(2, 2)),
        text_b("mat", "cuda:0", "cpu", "wrapper_CUDA_addmv_out_out"),
    ),
    "matrices into": (
        lambda: torch.matmul(cuda(2, 3), cuda(2, 3, 4), out=cpu(2, 2, 4)),
        text_b("self", "cuda:0", "cpu", "wrapper_CUDA_bmm_out_out"),
    ),
    "quantile into": (
        lambda: torch.quantile(cuda(3), 0.5, out=cpu()),
        "quantile() out tensor must be on the same device as the input tensor",
    ),
    "diff of nothing into": (lambda: torch.diff(cuda(3), n=0, out=cpu(3)), "expected device cuda:0 but found cpu"),
    "cummax into": (
        lambda: torch.cummax(cuda(3), 0, out=(cpu(3), torch.zeros(3).long())),
        "expected device cuda:0 but found cpu",
    ),
    "mode into": (
        lambda: torch.mode(cuda(3), out=(cpu(), torch.tensor(0))),
        "expected device 'cuda:0' but got 'cpu' for values output",
    ),
    "diag into": (
        lambda: torch.diag(cuda(3), out=cpu(3, 3)),
        "Expected out tensor to have device cuda:0, but got cpu instead",
    ),
    "a power of scalars into": (
        lambda: torch.float_power(cpu(), cpu(), out=cuda().double()),
        "Trying to pass too many CPU scalars to non-CPU kernel!",
    ),
    # what comes before the devices
    "a target that is one number in memory": (
        lambda: cuda(1).expand(3).add_(cpu(5)),
        "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
        "Please clone() the tensor before performing the operation.",
    ),
    "an out= that is one number in memory": (
        lambda: torch.add(cpu(3), 2, out=cuda(1).expand(3)),
        "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
        "Please clone() the tensor before performing the operation.",
    ),
    "a Python number beside a scalar": (
        lambda: torch.add(cpu(), 2, out=cuda(3)),
        "Trying to pass too many CPU scalars to non-CPU kernel!",
    ),
    # checks of single functions
    "inner": (
        lambda: torch.inner(cuda(3), cpu(3)),
        "Expected tensor to have cuda DeviceType, but got tensor with cpu DeviceType (while checking arguments for "
        "inner())",
    ),
    "cholesky_solve": (
        lambda: torch.cholesky_solve(cuda(3, 2), SQUARE),
        "Expected b and A to be on the same device, but found b on cuda:0 and A on cpu instead.",
    ),
    "stft": (
        lambda: torch.stft(cuda(100), 16, window=cpu(16), return_complex=True),
        "stft input and window must be on the same device but got self on cuda:0 and window on cpu",
    ),
    "gradient": (
        lambda: torch.gradient(cuda(5), spacing=(cpu(5),)),
        "torch.gradient expected each tensor to be on the same device, but got devices cuda:0 and cpu!",
    ),
    "prelu of a scalar weight": (
        lambda: F.prelu(cuda(2, 3), cpu()),
        text_b("weight", "cpu", "cuda:0", "wrapper_CUDA___prelu_kernel"),
    ),
    "a sorter, which the generated check leaves out": (
        lambda: torch.searchsorted(cuda(3), cuda(3), sorter=torch.tensor([0, 1, 2])),
        "torch.searchsorted(): sorter and boundary tensors should have same device type, but got sorter tensor device "
        "type cpu and input value tensor device type cuda:0",
    ),
    "segment_reduce": (
        lambda: torch.segment_reduce(cuda(3), "sum", lengths=torch.tensor([3])),
        "Expected data.get_device() == lengths_value.get_device() to be true, but got false.  (Could this error "
        "message be improved?  If so, please report an enhancement request to PyTorch.)",
    ),
    "addcmul of a scalar": (
        lambda: torch.addcmul(cpu(), cuda(3), cuda(3)),
        "CPU Scalar support for self argument is not supported when calling addcmul on CUDA tensors.",
    ),
    "the loss of two scalars": (
        lambda: F.mse_loss(cpu(), cuda()),
        f"{SAME}found at least two devices, cpu and cuda:0!",
    ),
    "a cell's bias": (
        lambda: torch._VF.gru_cell(cuda(2, 3), cuda(2, 4), cuda(12, 3), cuda(12, 4), cuda(12), cpu(12)),
        text_b("hidden_bias", "cpu", "cuda:0", "wrapper_CUDA___thnn_fused_gru_cell"),
    ),
    "a mask where attention is computed step by step": (
        lambda: F.scaled_dot_product_attention(cuda(2, 3, 8), cuda(2, 3, 8), cuda(2, 3, 8), cpu(3, 3)),
        f"{SAME}found at least two devices, cuda:0 and cpu!",
    ),
    "jiterator": (
        lambda: torch.cuda.jiterator._create_jit_fn("template <typename T> T f(T x, T y) { return x; }")(cuda(2), cpu(2)),  # noqa: E501
        f"{SAME}found at least two devices, cuda:0 and cpu!",
    ),
    # out= on a GPU of what CUDA's own kernel makes where the input is
    "cumsum into": (lambda: torch.cumsum(cpu(3), 0, out=cuda(3)), NO_GPU),
    "all into": (lambda: torch.all(cpu(3) > 0, out=cuda() > 0), NO_GPU),
    "max and where it is into": (lambda: torch.max(cpu(3), 0, out=(cuda(), cuda().long())), NO_GPU),
    "a mean of the GPU into": (
        lambda: torch.mean(cuda(3), 0, out=cpu()),
        "Expected out tensor to have device cuda:0, but got cpu instead",
    ),
    "rows into": (
        lambda: torch.unbind_copy(cuda(2, 3), out=[cuda(3), cpu(3)]),
        "Expected out tensor to have device cuda:0, but got cpu instead",
    ),
    # gradients that a derivative makes where the other tensor is
    "the gradient of a slice": (
        lambda: torch.slice_scatter(cuda(4), cpu(2).requires_grad_(), end=2).sum().backward(),
        invalid("SliceScatter", "cpu", "cuda:0"),
    ),
    "the gradient of a row": (
        lambda: torch.select_scatter(cpu(4, 2), cuda(2).requires_grad_() * 2, 0, 1).sum().backward(),
        invalid("SelectScatter", "cuda:0", "cpu"),
    ),
    "the gradient of a diagonal": (
        lambda: torch.diagonal_scatter(cuda(2, 2), cuda(2, index=1).requires_grad_()).sum().backward(),
        invalid("DiagonalScatter", "cuda:1", "cuda:0"),
    ),
    "the gradient of strides": (
        lambda: torch.as_strided_scatter(cuda(4), cpu(2).requires_grad_(), [2], [1]).sum().backward(),
        invalid("AsStridedScatter", "cpu", "cuda:0"),
    ),
    # a weight of binary_cross_entropy, which is multiplied in place
    "a weight for each element": (
        lambda: F.binary_cross_entropy(cuda(3), cuda(3), cpu(3)),
        f"{SAME}found at least two devices, cuda:0 and cpu!",
    ),
    "the weight of a loss that goes back": (
        lambda: weighted_loss(torch.ones(())).backward(),
        text_b("weight", "cpu", "cuda:0", "wrapper_CUDA__binary_cross_entropy_backward"),
    ),
    "a double weight and a target on the CPU": (
        lambda: F.binary_cross_entropy(cuda(3), cpu(3), cuda(3).double()),
        f"{SAME}found at least two devices, cuda:0 and cpu!",
    ),
    # meta tensors
    "meta + cuda": (lambda: meta(3) + cuda(3), "Tensor on device cuda:0 is not on the expected device meta!"),
    "a layer left on meta": (
        lambda: F.linear(cuda(2, 3), meta(4, 3), meta(4)),
        "Tensor on device meta is not on the expected device cuda:0!",
    ),
    "a loss of meta scores": (
        lambda: F.cross_entropy(meta(2, 3), torch.zeros(2).long().cuda()),
        "Tensor on device meta is not on the expected device cuda:0!",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refuses_with_the_text_of_pytorch(case: str) -> None:
    use, text = REFUSED[case]
    with warnings.catch_warnings(), pytest.raises(RuntimeError) as refusal:
        warnings.simplefilter("ignore")  # torch.chain_matmul, norm and others announce their successors
        use()
    assert str(refusal.value) == text


ALLOWED: dict[str, tuple[Callable[[], torch.Tensor], str]] = {
    "the ends of a range are read": (lambda: logspace(cuda(), 2, 3), "cpu"),
    "meta weights without a bias": (lambda: F.linear(cuda(2, 3), meta(4, 3)), "cuda:0"),
    "a meta table": (lambda: F.embedding(torch.tensor([0], device="cuda"), meta(4, 3)), "meta"),
    "a slice into": (lambda: torch.slice_scatter(cuda(4), cpu(2), end=2, out=cuda(4)), "cuda:0"),
    "a batch norm of nothing": (lambda: F.batch_norm(cuda(0), cpu(0), cpu(0)), "cuda:0"),
    "where with out=": (lambda: torch.where(cuda() > 0, cpu(), cpu(), out=cuda()), "cuda:0"),
    "a weight of a loss that is one number": (lambda: F.binary_cross_entropy(cuda(), cuda(), cpu()), "cuda:0"),
    "logical_and of a scalar": (lambda: torch.logical_and(cuda(3), cpu()), "cuda:0"),
}


@pytest.mark.parametrize("case", ALLOWED)
def test_allows_what_pytorch_allows(case: str) -> None:
    use, device = ALLOWED[case]
    assert str(use().device) == device


def test_composed_functions_are_judged_in_inference_mode_too() -> None:
    with torch.inference_mode():
        with pytest.raises(RuntimeError) as refusal:
            F.linear(cpu(2, 3), cuda(4, 3), cuda(4))
        assert str(refusal.value) == text_b("mat1", "cpu", "cuda:0", "wrapper_CUDA_addmm")
        with pytest.raises(RuntimeError, match="all tensors must be on the same device but tensor 0"):
            multi_dot([cuda(2, 3), cpu(3, 2)])


def test_a_function_that_cuda_lacks_is_refused() -> None:
    with pytest.raises(
        NotImplementedError, match=r"Could not run 'aten::histogram\.bin_ct' with arguments from the 'CUDA'"
    ):
        torch.histogram(cuda(3), 4)
    with pytest.raises(
        NotImplementedError, match=r"Could not run 'aten::histogram\.bins_tensor' with arguments from the 'CUDA'"
    ):
        torch.histogram(cuda(3), cpu(4))
    assert torch.histogram(cpu(3), 4).hist.sum() == 3


def test_jiterator_says_that_it_is_not_simulated() -> None:
    double = torch.cuda.jiterator._create_jit_fn("template <typename T> T f(T x) { return x + x; }")
    with pytest.raises(NotImplementedError, match=r"does not simulate torch\.cuda\.jiterator"):
        double(cuda(2))


def test_gradients_pass_the_kernels() -> None:
    first = cuda(2, 3).requires_grad_()
    cosine_similarity(first, cuda(2, 3)).sum().backward()
    assert first.grad is not None
    assert str(first.grad.device) == "cuda:0"


def test_every_kernel_and_check_is_of_an_operator_that_torch_has() -> None:
    names = [name for part in (composite_checks, nn, linear_algebra) for name, _ in part.kernels()]
    assert [name for name in names if composite_kernels._composed(name)[1] is None] == []
    tables = {signature.partition(".")[0] for signature in native_functions._entries()}
    assert set(checks.BY_HAND) <= tables


CPU_HALF_ATTENTION = "Could not run 'aten::_scaled_dot_product_flash_attention_for_cpu' with arguments from the 'CUDA'"
ONE_OF_TWO = f"{SAME}found at least two devices, cuda:0 and cpu!"


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (lambda: torch.ldexp(cuda(2), torch.tensor(2)), ONE_OF_TWO),
        (lambda: cpu(2).ldexp_(cuda(2).long()), ONE_OF_TWO),
        (lambda: torch._foreach_mul([cpu()], cuda()), "scalar tensor expected to be on cpu but is on cuda:0"),
        (lambda: torch._foreach_div_([cuda(2)], cuda(index=1)), "scalar tensor is expected to be on cuda:0 but"),
        (
            lambda: torch._foreach_addcmul(*[[cuda(2)]] * 3, cuda(1)),
            "Expected scalars to be on CPU, got cuda:0 instead.",
        ),
        (
            lambda: torch.conv_tbc(cuda(5, 2, 3), cpu(3, 3, 4), cuda(4)),
            text_b("mat2", "cpu", "cuda:0", "wrapper_CUDA_addmm_"),
        ),
        (lambda: scaled_dot_product_attention(*[cpu(1, 1, 3, 8)] * 3, attn_mask=cuda(3, 3)), CPU_HALF_ATTENTION),
        (
            lambda: torch.asarray(cpu(2), device="cuda", copy=False),
            "can't alias tensor from device 'cpu' to 'cuda'.",
        ),
        (
            lambda: torch.asarray(cpu(2)[0].numpy(), device="cuda", copy=True),  # it is copied first, then has to stay
            "can't alias tensor from device 'cpu' to 'cuda'.",
        ),
        (
            lambda: torch.asarray(cpu(2).numpy()[0], device="cuda", copy=False),
            "can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray. ",
        ),
        (
            lambda: torch.asarray(cuda(2), device="cuda", copy=False),
            "can't alias tensor from device 'cuda:0' to 'cuda'.",
        ),
        (
            lambda: torch.linalg.lstsq(cuda(3, 2), cuda(3, 1), driver="gelsd"),
            "torch.linalg.lstsq: `driver` other than `gels` is not supported on CUDA",
        ),
        (
            lambda: torch.linalg.svd(cuda(3, 2), driver="gels"),
            "torch.linalg.svd: unknown svd driver gels in svd_cusolver computation. ",
        ),
        (
            lambda: torch.poisson(cuda(2), torch.Generator()),
            "Expected a 'cuda' device type for generator but found 'cpu'",
        ),
        (
            lambda: torch._standard_gamma(cuda(2), generator=torch.Generator()),
            "Expected a 'cuda' device type for generator but found 'cpu'",
        ),
    ],
)
def test_single_functions_refuse_as_on_cuda(program: Callable[[], object], text: str) -> None:
    with pytest.raises((RuntimeError, ValueError)) as refusal:
        program()
    assert str(refusal.value).startswith(text)


def test_a_scattered_number_gets_its_gradient_where_it_is() -> None:
    number = cpu().requires_grad_()
    torch.select_scatter(cuda(4), number, 0, 1).sum().backward()
    assert number.grad is not None and number.grad.device == torch.device("cpu")


def test_single_functions_take_what_cuda_takes() -> None:
    assert not cuda(2).is_set_to(cpu(2))
    assert torch.conv_tbc(cuda(5, 2, 3), cuda(3, 3, 4), cpu(4)).device == torch.device("cuda:0")
    assert torch._foreach_mul([cuda(2)], 2 * cpu(1))[0].tolist() == [2, 2]
    assert torch.asarray(cuda(2), device="cuda:0", copy=False).is_cuda
    assert torch.linalg.svdvals(cuda(3, 2), driver="gesvdj").is_cuda
    for name in ("magma", "cusolver", "default"):
        assert torch.backends.cuda.preferred_linalg_library(name).name.lower() == name
    exponent = cpu().requires_grad_()
    torch.ldexp(cuda(2), exponent).sum().backward()
    assert exponent.grad is not None and exponent.grad.device == torch.device("cpu")


@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_left_shift", "fmod", "remainder", "xlogy", "copysign"])
def test_an_out_elsewhere_is_refused_where_an_operand_is_a_number(two_gpus: None, name: str) -> None:
    dtype = torch.int32 if name.startswith("bitwise") else torch.float32
    x = torch.ones(2, dtype=dtype, device="cuda")
    for out, devices in ((x.cpu(), "cuda:0 and cpu"), (x.to("cuda:1"), "cuda:1 and cuda:0")):
        with pytest.raises(RuntimeError) as refusal:
            getattr(torch, name)(x, 1, out=out)
        assert str(refusal.value) == (
            f"Expected all tensors to be on the same device, but found at least two devices, {devices}!"
        )
