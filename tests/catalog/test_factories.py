"""factories.toml says of PyTorch what the installed PyTorch does."""

import pytest
import torch
from torch.utils._device import _device_constructors

from samedevice.catalog import load

DEVICES = load().devices
GIVEN = {  # what each function needs, where it is not a size
    "arange": (3,), "eye": (3,), "fftfreq": (3,), "rfftfreq": (3,), "linspace": (0, 1, 3), "logspace": (0, 1, 3),
    "full": ((3,), 1.0), "randint": (3, (3,)), "randperm": (3,), "range": (0, 2), "scalar_tensor": (1.0,),
    "tril_indices": (3, 3), "triu_indices": (3, 3), "empty_strided": ((3,), (1,)), "empty_permuted": ((3,), (0,)),
    **dict.fromkeys(("bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"), (3,)),
    "normal": (0.0, 1.0, (3,)),
}  # fmt: skip


def names(kind, *words):
    return [name for name, by in getattr(DEVICES, kind).items() if by in words]


def function(name):
    return getattr(torch, name, None) or getattr(torch.fft, name)


def elsewhere(*shape):
    return torch.ones(shape or (3,), device="meta")


@pytest.mark.parametrize("name", names("functions", "default", "size"))
@pytest.mark.filterwarnings("ignore:torch.range is deprecated")
def test_a_function_takes_a_device_and_else_the_default_one(name):
    assert function(name)(*GIVEN.get(name, ((3,),)), device="meta").device.type == "meta"
    assert function(name)(*GIVEN.get(name, ((3,),))).device.type == "cpu"


@pytest.mark.filterwarnings("ignore:To copy construct from a tensor")
def test_what_is_made_of_data_follows_a_tensor():
    for name in ("as_tensor", "asarray", "tensor"):
        assert DEVICES.functions[name] == "data"
        assert function(name)(elsewhere()).device.type == "meta"
        assert function(name)([1.0]).device.type == "cpu"


@pytest.mark.parametrize("name", names("functions", "cpu"))
def test_a_function_that_always_creates_on_the_cpu_takes_no_other_device(name):
    dtype = {"dtype": torch.float32} if name == "frombuffer" else {}
    with pytest.raises((RuntimeError, TypeError), match=r"device|keyword"):
        function(name)(b"1234", device="meta", **dtype)


def test_what_is_like_a_tensor_is_where_that_is():
    for name in names("functions", "like"):
        more = {"full_like": (1.0,), "randint_like": (3,)}.get(name, ())
        assert function(name)(elsewhere(), *more).device.type == "meta"
        assert function(name)(elsewhere(), *more, device="cpu").device.type == "cpu"
    for name in names("methods", "like"):
        given = {"new_tensor": ([1.0],), "new_full": ((3,), 1.0), "new_empty_strided": ((3,), (1,))}.get(name, ((3,),))
        assert getattr(elsewhere(), name)(*given).device.type == "meta"
        assert getattr(elsewhere(), name)(*given, device="cpu").device.type == "cpu"


def test_what_computes_is_where_its_operands_are():
    for name in names("functions", "operands"):
        assert function(name)(elsewhere(), elsewhere()).device.type == "meta"
        with pytest.raises(TypeError, match="device"):
            function(name)(torch.ones(3), torch.ones(3), device="cpu")
    assert torch.normal(elsewhere(), 1.0).device.type == "meta"
    with pytest.raises(TypeError, match="device"):
        torch.normal(torch.ones(3), 1.0, device="cpu")


def test_each_method_and_attribute_is_one_of_a_tensor():
    attributes = set(DEVICES.attributes) - set(names("attributes", "settings"))
    assert [name for name in (*DEVICES.methods, *attributes) if not hasattr(torch.Tensor, name)] == []


def test_a_view_shares_the_memory_of_the_tensor_and_a_copy_is_where_the_tensor_is():
    given = {
        "chunk": (2,), "split": (1,), "expand": (2, 2), "expand_as": (torch.ones(2, 2),), "movedim": (0, 1),
        "narrow": (0, 0, 1), "permute": (1, 0), "reshape": (4,), "select": (0, 1), "swapaxes": (0, 1),
        "transpose": (0, 1), "unflatten": (0, (1, 2)), "unsqueeze": (0,), "view": (4,), "view_as": (torch.ones(4),),
        "clamp": (0,), "pow": (2,), "repeat": (2, 1), "repeat_interleave": (2,), "softmax": (0,), "log_softmax": (0,),
    }  # fmt: skip
    tensor = torch.ones(2, 2, dtype=torch.complex64)
    views = [getattr(tensor, name)(*given.get(name, ())) for name in names("methods", "view")]
    views += [getattr(tensor, name) for name in names("attributes", "view")]
    first = [view[0] if isinstance(view, tuple) else view for view in views]
    assert {view.untyped_storage().data_ptr() for view in first} == {tensor.untyped_storage().data_ptr()}
    for name in names("methods", "copy"):
        if name != "type":  # of a dtype, which it returns without one
            assert getattr(elsewhere(2, 2), name)(*given.get(name, ())).device.type == "meta"


def test_each_function_that_the_default_device_is_for_is_in_the_table():
    left_out = {"empty_quantized", "nested_tensor"}  # of other layouts, which few programs create in a line
    listed = {function.__name__.removeprefix("fft_") for function in _device_constructors()}
    assert listed - left_out <= set(names("functions", "default", "data"))
