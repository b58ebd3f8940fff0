"""What a reshaped view is made by, which autograd names in texts and in `grad_fn`."""

import pytest
import torch

from samedevice import simulate_cuda


@pytest.fixture(autouse=True)
def simulated():
    with simulate_cuda(devices=2):
        yield


RESHAPED = {
    "contiguous": lambda x: x.reshape(-1),
    "a part": lambda x: x[:, :2].reshape(2, 8),
    "a part, by a list": lambda x: x[:, :2].reshape([2, -1]),
    "a part, by name": lambda x: x[:, :2].reshape(shape=(2, 8)),
    "like another": lambda x: x[:, :2].reshape_as(torch.ones(2, 8)),
    "flattened": lambda x: x[:, :2].flatten(1),
    "flattened, by name": lambda x: x[:, :2].flatten(start_dim=-2),
    "flattened, by names": lambda x: x[:, :2].flatten(end_dim=2, start_dim=1),
    "flattened where it is contiguous": lambda x: x.flatten(),
    "one dimension flattened": lambda x: x[:, :2].flatten(1, 1),
    "copied": lambda x: x.transpose(0, 1).reshape(6, 4),
    "flattened by a copy": lambda x: x.transpose(0, 1).flatten(),
    "without elements": lambda x: x[:, :0].reshape(0, 4),
}


@pytest.mark.parametrize("reshaped", RESHAPED.values(), ids=list(RESHAPED))
def test_a_reshaped_view_has_the_grad_fn_of_pytorch(reshaped):
    here, there = (reshaped(torch.ones(2, 3, 4, device=device, requires_grad=True)) for device in ("cuda", "cpu"))
    assert here.grad_fn.name() == there.grad_fn.name()
    assert here.device.type == "cuda"
    assert (here.shape, here.stride()) == (there.shape, there.stride())


@pytest.mark.parametrize("wrong", [lambda x: x.reshape(5), lambda x: x.reshape(torch.int32), lambda x: x.flatten(2, 0)])
def test_a_wrong_shape_is_refused_in_the_words_of_pytorch(wrong):
    texts = []
    for device in ("cuda", "cpu"):
        with pytest.raises((RuntimeError, TypeError)) as refused:
            wrong(torch.ones(2, 3, 4, device=device)[:, :2])
        texts.append(str(refused.value))
    assert texts[0] == texts[1]


def test_a_write_into_a_reshaped_view_of_no_grad_is_refused_in_the_words_of_pytorch():
    x = torch.ones((), device="cuda", requires_grad=True) * 2
    with torch.no_grad():
        x = x.expand(2)
    x = x.reshape(-1)
    name = "ReshapeAlias(Backward0)?"  # the latter before torch 2.13
    with pytest.raises(RuntimeError, match=f"^Output 0 of {name} is a view of a view which was created in no_grad"):
        x.mul_(2)


def test_a_subclass_with_torch_function_is_told_of_reshape_alone():
    called = []

    class Told(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            called.append(function)
            return super().__torch_function__(function, types, args, kwargs or {})

    torch.ones(2, 3, 4, device="cuda")[:, :2].as_subclass(Told).reshape(2, 8)
    assert called == [torch.Tensor.reshape]
