"""What CUDA's kernels compute and the CPU's do not."""

import pytest
import torch
from ones import cuda
from torch.nn import functional as F  # noqa: N812


@pytest.fixture(autouse=True)
def simulation(two_gpus: None) -> None: ...


def test_integers_may_be_divided_by_zero() -> None:
    numbers = cuda(2, dtype=torch.long)
    for divided in (numbers // 0, numbers % torch.zeros(2, dtype=torch.long, device="cuda"), torch.fmod(numbers, 0)):
        assert (str(divided.device), divided.dtype) == ("cuda:0", torch.long)
    assert (6 * numbers // torch.tensor([2, 0], device="cuda")).tolist()[0] == 3


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_what_only_cuda_computes_in_16_bits(dtype: torch.dtype) -> None:
    volume = torch.rand(1, 1, 4, 4, 4).cuda().to(dtype).requires_grad_()
    pooled = F.avg_pool3d(volume, 2)
    pooled.sum().backward()
    assert (pooled.dtype, str(pooled.device)) == (dtype, "cuda:0")
    assert torch.equal(pooled, F.avg_pool3d(volume.float(), 2).to(dtype))
    assert volume.grad is not None and volume.grad.dtype is dtype and volume.grad.unique().tolist() == [0.125]
    negative = -cuda(4).to(dtype)
    leaked = F.rrelu(negative, 0.5, 0.5, training=True)
    F.rrelu_(negative, 0.5, 0.5, training=True)
    assert leaked.tolist() == negative.tolist() == [-0.5] * 4
    assert F.multi_margin_loss(cuda(2, 2).to(dtype), cuda(2, dtype=torch.long)).dtype is dtype


COMPUTED = {
    "abs of booleans": lambda x: x.abs(),
    "trace of booleans": lambda x: x.reshape(2, 2).trace(),
    "median of booleans": lambda x: x.median(),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_what_only_cuda_computes_of_booleans(name: str) -> None:
    of_booleans = COMPUTED[name](torch.tensor([True, False, True, True], device="cuda"))
    of_bytes = COMPUTED[name](torch.tensor([1, 0, 1, 1], dtype=torch.uint8))
    assert of_booleans.dtype is (torch.bool if of_bytes.dtype is torch.uint8 else of_bytes.dtype)
    assert torch.equal(of_booleans.cpu().to(of_bytes.dtype), of_bytes)


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
@pytest.mark.parametrize("name", ["exp", "sqrt", "sin", "abs", "angle", "sum", "reciprocal"])
def test_complex_numbers_of_32_bits_are_computed_as_those_of_64(name: str) -> None:
    numbers = torch.tensor([1 + 2j, 0.5 - 1j])
    if name == "reciprocal":  # which CUDA does not compute either
        with pytest.raises(NotImplementedError, match="\"reciprocal_cuda\" not implemented for 'ComplexHalf'"):
            numbers.to(torch.complex32).cuda().reciprocal()
        return
    found, expected = (getattr(x, name)() for x in (numbers.to(torch.complex32).cuda(), numbers))
    assert found.dtype is {torch.complex64: torch.complex32, torch.float32: torch.float16}[expected.dtype]
    torch.testing.assert_close(found.cpu().to(expected.dtype), expected, rtol=1e-2, atol=1e-2)


def test_nansum_of_complex_numbers_leaves_out_what_is_none() -> None:
    x = torch.tensor([[1 + 1j, complex("nan")], [2j, 3]], device="cuda")
    assert x.nansum().item() == 4 + 3j
    assert x.nansum(1, keepdim=True).tolist() == [[1 + 1j], [3 + 2j]]


def test_integers_are_unpooled() -> None:
    pooled, places = F.max_pool2d(torch.arange(16.0, device="cuda").reshape(1, 1, 4, 4), 2, return_indices=True)
    assert torch.equal(F.max_unpool2d(pooled.long(), places, 2), F.max_unpool2d(pooled, places, 2).long())


def test_products_of_halves_are_summed_in_float32_where_it_is_asked() -> None:
    a, b = torch.rand(3, 4).cuda().half(), torch.rand(4, 2).cuda().half()
    found = torch.mm(a, b, out_dtype=torch.float32)
    assert (found.dtype, str(found.device)) == (torch.float32, "cuda:0")
    assert torch.equal(found, a.float() @ b.float())
    with pytest.raises(RuntimeError) as refusal:
        torch.mm(a.float(), b.float(), out_dtype=torch.float64)
    assert str(refusal.value) == "out_dtype must be the same as input dtype or fp32 for fp16/bf16 inputs"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bool])
def test_sparse_tensors_are_added_and_multiplied_in_dtypes_that_the_cpu_has_no_kernel_for(dtype: torch.dtype) -> None:
    a, b = (torch.tensor(x).to(dtype).cuda() for x in ([1.0, 0, 1], [0.0, 0, 1]))
    for result, expected in ((a.to_sparse() + b.to_sparse(), a + b), (a.to_sparse() * b.to_sparse(), a * b)):
        assert (result.dtype, str(result.device), result.is_sparse) == (dtype, "cuda:0", True)
        assert torch.equal(result.to_dense(), expected)


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
def test_what_is_computed_in_another_dtype_is_written_to_its_output_alone() -> None:
    x = torch.tensor([1 + 1j]).to(torch.complex32).cuda()
    result = torch.empty_like(x)
    versions = x._version, result._version
    assert torch.exp(x, out=result) is result
    torch.testing.assert_close(result.cpu().to(torch.complex64), torch.tensor([1 + 1j]).exp(), rtol=1e-2, atol=1e-2)
    assert (x._version, result._version) == (versions[0], versions[1] + 1)
    x.exp_()
    assert torch.equal(x, result)
