"""Tensors, modules, files: what moves, what stays the same object, what is left behind."""

import copy
import io
import pickle
import subprocess
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from samedevice import simulate_cuda

pytestmark = pytest.mark.usefixtures("two_gpus")

# Asked at import, before any test simulates one.
REAL = torch.cuda.is_available()


def places(*tensors: torch.Tensor) -> list[str]:
    return [str(tensor.device) for tensor in tensors]


def test_every_way_to_name_a_gpu() -> None:
    x = torch.zeros(2)
    moved = (x.cuda(1), x.to(1), x.to(device=1), x.to("cuda:1"), x.to(torch.device("cuda", 1)), x.to(torch.device(1)))
    made = (torch.zeros(1, device=1), torch.zeros(1, device="cuda:1"), torch.empty(2, device=torch.device("cuda:1")))
    assert set(places(*moved, *made)) == {"cuda:1"}


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.int16, np.uint8])
def test_an_integer_of_numpy_names_a_gpu_as_an_int_does(kind: Any) -> None:
    x, index = torch.zeros(2), kind(1)
    moved = (
        x.cuda(index),
        x.to(index),
        x.to(device=index),
        x.to(index, torch.float64),
        nn.Linear(1, 1).to(index).weight,
    )
    made = (torch.zeros(1, device=index), torch.tensor([1.0], device=index), torch.zeros_like(x, device=index))
    assert set(places(*moved, *made, x.new_zeros(1, device=index))) == {"cuda:1"}
    assert (torch.device(index), torch.Generator(index).device) == (torch.device("cuda:1"),) * 2
    with torch.device(index):
        assert places(torch.zeros(1)) == ["cuda:1"]


NO_INDEX: dict[str, tuple[Callable[[], Any], str]] = {
    "a boolean of NumPy": (
        lambda: torch.ones(1).cuda(np.bool_(True)),  # type: ignore[arg-type]
        "cuda(): argument 'device' (position 1) must be torch.device, not numpy.bool",
    ),
    "an array": (
        lambda: torch.ones(1).cuda(np.array(1)),  # type: ignore[arg-type]
        "cuda(): argument 'device' (position 1) must be torch.device, not numpy.ndarray",
    ),
    "a float of NumPy": (
        lambda: torch.ones(1).cuda(np.float64(1)),  # type: ignore[arg-type]
        "cuda(): argument 'device' (position 1) must be torch.device, not numpy.float64",
    ),
}


@pytest.mark.parametrize("name", NO_INDEX)
def test_what_is_no_index_is_refused_by_its_type(name: str) -> None:
    call, text = NO_INDEX[name]
    with pytest.raises(TypeError) as refused:
        call()
    assert str(refused.value) == text


def test_bare_cuda_is_the_current_gpu() -> None:
    with torch.cuda.device(1):
        assert (
            places(torch.zeros(1, device="cuda"), torch.zeros(1).cuda(), nn.Linear(1, 1).cuda().weight)
            == ["cuda:1"] * 3
        )
    assert places(torch.zeros(1, device="cuda")) == ["cuda:0"]


def test_to_takes_a_dtype_a_tensor_and_a_copy_flag_as_well() -> None:
    x, y = torch.zeros(2), torch.ones(1, device="cuda:1", dtype=torch.float64)
    assert (x.to("cuda", torch.int64).dtype, x.to(y).dtype, x.to(y).device.index) == (torch.int64, torch.float64, 1)
    assert y.to("cuda:1") is y
    assert y.to("cuda:1", torch.float64, False, True) is not y
    assert y.to(torch.float64, True) is y
    assert y.to(torch.float64, False, True) is not y
    assert places(y.to(x)) == ["cpu"]


def test_a_module_takes_the_tensor_to_be_like_by_its_name() -> None:
    like = torch.ones(1, device="cuda:1", dtype=torch.float64)
    moved = nn.Linear(1, 1).to(tensor=like)
    assert places(moved.weight) == ["cuda:1"]
    assert moved.weight.dtype is torch.float64


def test_a_moved_value_is_a_copy_and_a_view_is_not() -> None:
    x = torch.zeros(4)
    on_gpu = x.cuda()
    on_gpu[:2] += 1
    assert (x.tolist(), on_gpu.tolist()) == ([0, 0, 0, 0], [1, 1, 0, 0])


def test_metadata_changed_in_place_is_seen() -> None:
    x = torch.ones(2, 3, device="cuda")
    x.t_().unsqueeze_(0)
    assert (x.shape, places(x)) == ((1, 3, 2), ["cuda:0"])


def test_a_module_moves_in_place_there_and_back() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    weight, mean, reference = model[0].weight, model[1].running_mean, weakref.ref(model[0].weight)
    seen: list[str] = []
    weight.register_hook(lambda gradient: seen.append(f"hook {gradient.device}"))
    weight.register_post_accumulate_grad_hook(lambda parameter: seen.append(f"after {parameter.grad.device}"))
    model.to("cuda:1")
    assert model[0].weight is weight is reference()
    assert isinstance(weight, nn.Parameter)
    assert model[1].running_mean is not mean
    assert places(weight, model[1].running_mean, mean) == ["cuda:1", "cuda:1", "cpu"]
    model(torch.ones(2, 3, device="cuda:1")).sum().backward()
    assert seen == ["hook cuda:1", "after cuda:1"]
    gradient = weight.grad
    model.cpu()
    assert places(weight, weight.grad) == ["cpu", "cpu"]
    assert model[0].weight is weight
    assert weight.grad is gradient
    assert type(weight) is nn.Parameter


def test_tied_weights_stay_tied() -> None:
    model = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False))
    model[1].weight = model[0].weight
    model.cuda()
    assert model[0].weight is model[1].weight


def test_a_lazy_module_is_made_where_it_was_moved() -> None:
    for model in (nn.LazyLinear(2).cuda(1), nn.Sequential(nn.LazyBatchNorm1d(), nn.LazyLinear(2)).to("cuda:1")):
        output = model(torch.ones(2, 3, device="cuda:1"))
        assert {str(t.device) for t in (output, *model.parameters())} == {"cuda:1"}


def test_data_takes_a_tensor_of_another_device() -> None:
    x, y = torch.zeros(2), torch.ones(2, device="cuda")
    x.data, y.data = torch.ones(2, device="cuda:1"), torch.zeros(2)
    assert places(x, x + 1, y, y + 1) == ["cuda:1", "cuda:1", "cpu", "cpu"]


def test_deepcopy_and_pickle_keep_device_and_class() -> None:
    model = nn.Linear(3, 2).to("cuda:1")
    for clone in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert places(clone.weight) == ["cuda:1"]
        assert isinstance(clone.weight, nn.Parameter)
    assert pickle.loads(pickle.dumps(torch.device("cuda:1"))) == torch.device("cuda", 1)


def test_state_dicts_are_copied_into_place_or_adopted() -> None:
    model, other = nn.Linear(2, 2), nn.Linear(2, 2).cuda()
    model.load_state_dict(other.state_dict())
    assert places(model.weight) == ["cpu"]
    model.load_state_dict(other.state_dict(), assign=True)
    assert places(model.weight) == ["cuda:0"]


def saved(thing: object) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(thing, file)
    file.seek(0)
    return file


def test_a_file_remembers_the_gpu_and_map_location_moves_it() -> None:
    file = saved({"w": torch.ones(2, device="cuda:1")})
    for map_location, device in ((None, "cuda:1"), ("cpu", "cpu"), ({"cuda:1": "cuda:0"}, "cuda:0")):
        file.seek(0)
        assert places(torch.load(file, map_location=map_location)["w"]) == [device]


def test_a_file_with_a_gpu_that_is_not_there_is_refused() -> None:
    file = saved(torch.ones(1))
    with simulate_cuda(devices=2):
        file = saved(torch.ones(1, device="cuda:1"))
    data = file.getvalue().replace(b"cuda:1", b"cuda:3")
    with pytest.raises(RuntimeError) as refusal:
        torch.load(io.BytesIO(data))
    assert str(refusal.value) == (
        "Attempting to deserialize object on CUDA device 3 but torch.cuda.device_count() is 2. "
        "Please use torch.load with map_location to map your storages to an existing device."
    )


def test_texts_show_the_device_as_cuda_does() -> None:
    x = torch.tensor([[1, 2], [3, 4]], device="cuda:1")
    assert repr(x) == "tensor([[1, 2],\n        [3, 4]], device='cuda:1')"
    assert f"{torch.tensor(1.5, device='cuda'):.2f}" == "1.50"
    assert repr(nn.Parameter(torch.zeros(1, device="cuda"))) == (
        "Parameter containing:\ntensor([0.], device='cuda:0', requires_grad=True)"
    )
    assert (x.type(), x.is_cuda, x.is_cpu, x.get_device()) == ("torch.cuda.LongTensor", True, False, 1)


def test_the_default_device_decides_what_pytorch_says_it_decides() -> None:
    with torch.device("cuda:1"):
        made = (torch.zeros(1), torch.tensor([1.0]), nn.Linear(2, 2).weight, torch.randperm(3))
        assert places(*made, torch.zeros(1, device="cpu"), torch.Tensor([1.0])) == ["cuda:1"] * 4 + ["cpu"] * 2
        assert torch.get_default_device() == torch.device("cuda:1")
    assert places(torch.zeros(1)) == ["cpu"]


@pytest.mark.slow
@pytest.mark.skipif(REAL, reason="a real GPU takes it")
def test_a_cuda_file_is_refused_outside_the_simulation_with_pytorchs_text() -> None:
    program = """
import io, torch, samedevice
file = io.BytesIO()
with samedevice.simulate_cuda(1):
    torch.save(torch.ones(2, device="cuda"), file)
file.seek(0)
print(torch.load(file, map_location="cpu"))
file.seek(0)
try:
    torch.load(file)
except RuntimeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == (
        "tensor([1., 1.])\n"
        "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running "
        "on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your storages to "
        "the CPU.\n"
    )


def test_streams_are_recorded_on_tensors_of_a_gpu_only() -> None:
    torch.ones(2, device="cuda").record_stream(torch.cuda.current_stream())
    for stream in (torch.cuda.current_stream(), torch.Stream("cuda")):
        with pytest.raises(NotImplementedError) as error:
            torch.ones(2).record_stream(stream)
        assert str(error.value).startswith(
            "Could not run 'aten::record_stream' with arguments from the 'CPU' backend. "
        )
    for device in ("cpu", "cuda"):
        with pytest.raises(RuntimeError) as unknown:
            torch.ones(2, device=device).record_stream(None)  # type: ignore[arg-type]
        assert str(unknown.value) == "unknown parameter type"


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (lambda: torch.ones(1, device=True), "ones(): argument 'device' must be torch.device, not bool"),
        (lambda: torch.ones(1, device=1.5), "ones(): argument 'device' must be torch.device, not float"),
        (lambda: torch.ones(1, device=[0]), "ones(): argument 'device' must be torch.device, not list"),
        (lambda: torch.tensor([1.0], device=True), "tensor(): argument 'device' must be torch.device, not bool"),
        (
            lambda: torch.zeros_like(torch.ones(1), device=True),
            "zeros_like(): argument 'device' must be torch.device, not bool",
        ),
        (
            lambda: torch.ones(1).new_zeros(1, device=True),
            "new_zeros(): argument 'device' must be torch.device, not bool",
        ),
        (
            lambda: torch.ones(1).cuda(True),
            "cuda(): argument 'device' (position 1) must be torch.device, not bool",
        ),
        (
            lambda: torch.Generator(True),
            "Generator(): argument 'device' (position 1) must be torch.device, not bool",
        ),
    ],
)
def test_a_bool_names_no_device(act: Callable[[], Any], text: str) -> None:
    with pytest.raises(TypeError) as error:
        act()
    if text.startswith("ones()") and torch.__version__ < "2.13":  # where it lists the forms that it takes
        said = f"ones() received an invalid combination of arguments - got (int, device={text.split()[-1]})"
        assert str(error.value).startswith(said)
    else:
        assert str(error.value) == text


def test_a_bool_is_no_index_of_a_gpu() -> None:
    for act, text in (
        (lambda: torch.cuda.set_device(True), "invalid argument to setDevice"),
        (lambda: torch.cuda.synchronize(True), "invalid argument to exchangeDevice"),
    ):
        with pytest.raises(RuntimeError) as error:
            act()
        assert str(error.value) == text
    with pytest.raises(TypeError, match=r"device\(\) received an invalid combination of arguments - got \(bool\)"):
        torch.device(True)


@pytest.mark.filterwarnings("ignore:To copy construct")
def test_new_tensor_of_a_tensor_is_where_the_first_one_is(two_gpus: None) -> None:
    here, there = torch.zeros(1), torch.arange(2.0, device="cuda:1")
    assert (here.new_tensor(there).device.type, here.new_tensor(there).tolist()) == ("cpu", [0, 1])
    assert here.new_tensor(data=there).device.type == "cpu"
    assert str(here.new_tensor(there, device="cuda:0").device) == "cuda:0"


def _sparse_moved() -> torch.Tensor:
    return torch.ones(3, 3, device="cuda").requires_grad_().to_sparse().to("cuda:1").sum()


def _weights_moved() -> torch.Tensor:
    weight = torch.ones(4, 2).requires_grad_().to("cuda")
    rows = torch.nn.functional.embedding(torch.tensor([0, 1], device="cuda"), weight, sparse=True)
    return rows.sum()


@pytest.mark.parametrize(
    ("make", "was", "wanted"), [(_sparse_moved, "Strided", "Sparse"), (_weights_moved, "Sparse", "Strided")]
)
def test_a_gradient_goes_back_only_in_the_layout_of_what_was_moved(
    make: Callable[[], torch.Tensor], was: str, wanted: str
) -> None:
    moved = make()
    with pytest.raises(RuntimeError) as refusal:
        moved.backward()
    assert str(refusal.value) == (
        f"to(options) doesn't support converting to a different layout, but got self.layout being {was} and "
        f"options.layout set as {wanted}"
    )
