"""Which tensors can be pinned, and what is pinned then."""

import pytest
import torch

pytestmark = pytest.mark.usefixtures("two_gpus")


def test_pinned_memory_is_pinned_for_whoever_looks() -> None:
    x = torch.arange(4.0).pin_memory()
    assert torch.from_numpy(x.numpy()).is_pinned()
    assert torch.from_numpy(x.numpy()[1:]).is_pinned()
    assert x[1:].is_pinned()
    assert x.pin_memory() is x
    assert not x.clone().is_pinned()
    assert not torch.empty(0).is_pinned()


def test_a_gradient_passes_through_pinning() -> None:
    x = torch.ones(3, requires_grad=True)
    (x.pin_memory().cuda() * 2).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
    assert torch.ones(2, 3).t().pin_memory().stride() == (1, 3)


@pytest.mark.filterwarnings("ignore:The argument 'device' of Tensor.:DeprecationWarning")
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_memory_is_pinned_for_an_accelerator(device: str) -> None:
    with pytest.raises(RuntimeError) as error:
        torch.ones(2).pin_memory(device)
    assert str(error.value) == f"{device.upper()} device type not an accelerator."


def test_a_tensor_without_memory_cannot_be_pinned() -> None:
    with pytest.raises(RuntimeError) as error:
        torch.ones(2, device="meta").pin_memory()
    assert str(error.value) == "cannot pin 'MetaFloatType' only dense CPU tensors can be pinned"


def test_the_device_of_is_pinned_is_checked() -> None:
    with pytest.raises(TypeError) as error:
        torch.ones(2).is_pinned(True)  # type: ignore[arg-type]
    assert str(error.value) == "is_pinned(): argument 'device' (position 1) must be torch.device, not bool"
