"""Files that hold tensors on a GPU are what CUDA writes, and are read as CUDA reads them."""

import copy
import io
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch
from checkpoint import FILE, checkpoint
from torch import nn

from samedevice import simulate_cuda


def saved(content: object, **options: Any) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(content, file, **options)
    file.seek(0)
    return file


def devices(content: dict[str, Any]) -> dict[str, str]:
    return {name: str(value.device) for name, value in content.items() if isinstance(value, torch.Tensor)}


def pickled(file: Any) -> bytes:
    with zipfile.ZipFile(file) as archive:
        return archive.read(next(name for name in archive.namelist() if name.endswith("data.pkl")))


def test_a_file_is_to_the_byte_what_the_cuda_build_writes(two_gpus: None) -> None:
    assert pickled(saved(checkpoint())) == pickled(FILE)


def test_a_file_of_the_cuda_build_is_read_as_on_two_gpus(two_gpus: None) -> None:
    read, expected = torch.load(FILE, weights_only=True), checkpoint()
    assert devices(read) == devices(expected)
    assert devices(read["module"]) == dict.fromkeys(expected["module"], "cuda:1")
    assert read["device"] == torch.device("cuda:1")
    assert read["tensor"].tolist() == [0, 1, 2, 3, 4, 5]
    assert read["view"].tolist() == [[2, 4], [3, 5]]
    read["tensor"][2] = 7
    assert read["view"][0, 0] == read["parameter"][2] == 7, "what shared memory no longer does"
    assert (read["parameter"].requires_grad, read["leaf"].requires_grad, read["half"].dtype) == (
        True, True, torch.float16,
    )  # fmt: skip
    assert isinstance(read["parameter"], nn.Parameter)


def test_a_file_of_the_cuda_build_on_fewer_gpus_or_none_is_refused_with_pytorchs_text() -> None:
    with simulate_cuda(devices=1), pytest.raises(RuntimeError) as refusal:
        torch.load(FILE)
    assert str(refusal.value) == (
        "Attempting to deserialize object on CUDA device 1 but torch.cuda.device_count() is 1. Please use torch.load "
        "with map_location to map your storages to an existing device."
    )
    assert set(devices(torch.load(FILE, map_location="cpu")).values()) == {"cpu"}


MAPS: dict[str, tuple[Any, str]] = {
    "none": (None, "cuda:1"),
    "cpu": ("cpu", "cpu"),
    "an index": ("cuda:0", "cuda:0"),
    "the current gpu": ("cuda", "cuda:0"),
    "a device": (torch.device("cuda", 0), "cuda:0"),
    "a dictionary": ({"cuda:1": "cuda:0"}, "cuda:0"),
    "a dictionary to the cpu": ({"cuda:1": "cpu"}, "cpu"),
    "a dictionary of others": ({"cuda:0": "cpu"}, "cuda:1"),
    "a function that leaves it on the cpu": (lambda storage, location: storage, "cpu"),
    "a function that moves it": (lambda storage, location: storage.cuda(0), "cuda:0"),
    "a function that declines": (lambda storage, location: None, "cuda:1"),
}


@pytest.mark.parametrize("form", MAPS)
@pytest.mark.parametrize("legacy", [False, True])
def test_every_form_of_map_location(two_gpus: None, form: str, legacy: bool) -> None:
    location, expected = MAPS[form]
    file = saved(torch.ones(2, device="cuda:1"), _use_new_zipfile_serialization=not legacy)
    for weights_only in (True, False):
        file.seek(0)
        loaded = torch.load(file, map_location=location, weights_only=weights_only)
        assert (str(loaded.device), loaded.tolist()) == (expected, [1, 1])


def test_a_map_location_that_is_not_there_is_refused(two_gpus: None) -> None:
    with pytest.raises(RuntimeError) as refusal:
        torch.load(saved(torch.ones(2)), map_location="cuda:7")
    assert str(refusal.value) == (
        "Attempting to deserialize object on CUDA device 7 but torch.cuda.device_count() is 2. Please use torch.load "
        "with map_location to map your storages to an existing device."
    )


def test_what_a_function_returns_for_a_location_decides(two_gpus: None) -> None:
    seen: list[str] = []
    torch.load(
        saved([torch.ones(2), torch.ones(2, device="cuda:1")]),
        map_location=lambda storage, location: seen.append(location),
    )
    assert seen == ["cpu", "cuda:1"]


def test_a_file_on_disk_is_mapped_into_memory(two_gpus: None, tmp_path: Path) -> None:
    file = tmp_path / "x.pt"
    torch.save(torch.arange(3.0).cuda(1), file)
    for location, expected in ((None, "cuda:1"), ("cpu", "cpu"), ("cuda:0", "cuda:0")):
        loaded = torch.load(file, map_location=location, mmap=True)
        assert (str(loaded.device), loaded.tolist()) == (expected, [0, 1, 2])


def test_a_default_device_does_not_change_what_is_loaded(two_gpus: None) -> None:
    file = saved(torch.ones(2))
    with torch.device("cuda"):
        assert torch.load(file).device.type == "cpu"


def test_whole_modules_and_optimizers_come_back_and_name_only_torch(two_gpus: None) -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).cuda(1)
    steps = torch.optim.Adam(model.parameters(), fused=True)
    model(torch.randn(4, 2, device="cuda:1")).sum().backward()
    steps.step()
    file = saved({"model": model, "steps": steps.state_dict()})
    assert b"samedevice" not in file.getvalue()
    loaded = torch.load(file, weights_only=False)
    assert {str(tensor.device) for tensor in loaded["model"].state_dict().values()} == {"cuda:1"}
    assert torch.equal(loaded["model"][0].weight, model[0].weight)
    assert isinstance(loaded["model"][0].weight, nn.Parameter)
    assert {str(tensor.device) for tensor in loaded["steps"]["state"][0].values()} == {"cuda:1"}


COPIES: dict[str, Callable[[Any], Any]] = {"deepcopy": copy.deepcopy, "torch.save": lambda x: torch.load(saved(x))}


@pytest.mark.parametrize("kind", COPIES)
def test_copies_share_memory_among_themselves_and_with_nothing_else(two_gpus: None, kind: str) -> None:
    x = torch.arange(4.0).cuda(1)
    whole, view = COPIES[kind]([x, x[1:]])
    view[0] = 9
    assert (whole.tolist(), x.tolist()) == ([0, 9, 2, 3], [0, 1, 2, 3])
    assert {str(whole.device), str(view.device)} == {"cuda:1"}


def test_a_pickle_holds_the_device_and_tensors_without_elements_too(two_gpus: None) -> None:
    for x in (torch.arange(4.0).cuda(1)[1:], torch.empty(0, 3, device="cuda:1")):
        loaded = pickle.loads(pickle.dumps(x))
        assert (str(loaded.device), loaded.tolist(), loaded.shape) == ("cuda:1", x.tolist(), x.shape)


def test_a_pickle_of_a_gpu_that_is_not_here_is_refused_with_pytorchs_text(two_gpus: None) -> None:
    pickled = pickle.dumps(torch.ones(2).cuda(1))
    with patch("torch.cuda.device_count", return_value=1), pytest.raises(RuntimeError) as refusal:
        pickle.loads(pickled)
    assert str(refusal.value).startswith("Attempting to deserialize object on CUDA device 1 but")


def test_storages_say_where_they_are_and_move(two_gpus: None) -> None:
    x = torch.ones(4, device="cuda:1")
    storage = x.untyped_storage()
    assert (str(storage.device), storage.get_device(), storage.is_cuda, storage.is_shared()) == (
        "cuda:1",
        1,
        True,
        True,
    )
    assert str(torch.UntypedStorage(8, device="cuda").device) == "cuda:0"
    assert (str(storage.cuda(0).device), str(storage.cpu().device)) == ("cuda:0", "cpu")
    assert torch.empty(0, device="cuda:1").set_(storage).data_ptr() == x.data_ptr()
    with pytest.raises(RuntimeError) as refusal:
        torch.empty(0, device="cuda:0").set_(storage)
    assert str(refusal.value) == (  # native/Resize.h, checkSetStorage
        'Attempted to set the storage of a tensor on device "cuda:0" to a storage on different device "cuda:1".  '
        "This is no longer allowed; the devices must match."
    )


def test_safetensors_save_and_load_on_a_gpu(two_gpus: None, tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors.torch")
    file = tmp_path / "x.safetensors"
    safetensors.save_file({"x": torch.arange(3.0).cuda(1)}, file)
    for device, expected in (("cpu", "cpu"), ("cuda", "cuda:0"), ("cuda:1", "cuda:1"), (1, "cuda:1")):
        loaded = safetensors.load_file(file, device=device)["x"]
        assert (str(loaded.device), loaded.tolist()) == (expected, [0, 1, 2])


STORAGES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "to by position": (
        lambda: torch.ones(2, device="cuda").untyped_storage().to("cpu"), TypeError,
        "_StorageBase.to() takes 1 positional argument but 2 were given",
    ),
    "cpu with an argument": (
        lambda: torch.ones(2, device="cuda").untyped_storage().cpu(1), TypeError,
        "_StorageBase.cpu() takes 1 positional argument but 2 were given",
    ),
    "cuda of a name": (
        lambda: torch.ones(2).untyped_storage().cuda("cuda:1"), TypeError,
        "device(): argument 'index' (position 2) must be int, not str",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", STORAGES)
def test_what_a_storage_does_not_take_is_refused_in_pytorchs_words(two_gpus: None, case: str) -> None:
    act, kind, text = STORAGES[case]
    with pytest.raises(kind) as error:
        act()
    assert str(error.value) == text


def test_a_storage_makes_others_where_it_is(two_gpus: None) -> None:
    storage = torch.ones(2, device="cuda:1").untyped_storage()
    assert (str(storage.new().device), storage.new().nbytes()) == ("cuda:1", 0)
    assert str(storage.cuda(0).device) == "cuda:0", "PyTorch takes 0 for no index: the current GPU"
    with torch.cuda.device(1):
        assert str(torch.ones(2).untyped_storage().cuda(0).device) == "cuda:1"


def test_a_number_is_no_memory_to_adopt(two_gpus: None) -> None:
    with pytest.raises(TypeError, match=r"^set_\(\) received an invalid combination of arguments - got \(int\)"):
        torch.ones(2, device="cuda").set_(1)


@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
@pytest.mark.filterwarnings("ignore:The argument 'device' of Tensor.is_pinned")  # torch 2.11 and 2.12 hand it on
def test_what_is_brought_back_without_waiting_is_pinned(two_gpus: None) -> None:
    storage = torch.ones(2, device="cuda").untyped_storage()
    assert storage.to(device="cpu", non_blocking=True).is_pinned()
    assert not storage.to(device="cpu").is_pinned()
    assert not storage.cpu().is_pinned()
    assert not torch.ones(2).untyped_storage().to(device="cpu", non_blocking=True).is_pinned()
    assert not torch.empty(0, device="cuda").untyped_storage().to(device="cpu", non_blocking=True).is_pinned()
    torch.cuda.set_sync_debug_mode("error")
    storage.to(device="cpu", non_blocking=True)
    torch.cuda.set_sync_debug_mode(0)
