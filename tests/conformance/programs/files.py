"""torch.save and torch.load: where a tensor of a file comes back, and what map_location changes."""

import io

import torch
from torch import nn


def _saved(value):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return file


def a_tensor_comes_back_to_its_gpu():
    x = torch.load(_saved(torch.tensor([1.0, 2.0]).cuda(1)))
    return [str(x.device), x.tolist()]


def map_location_in_every_form():
    def load(where):
        return str(torch.load(_saved(torch.zeros(1, device="cuda:1")), map_location=where).device)

    return [
        load("cpu"), load("cuda:0"), load(torch.device("cuda", 0)), load({"cuda:1": "cuda:0"}), load({"cuda:0": "cpu"}),
        load(lambda storage, location: storage), load(lambda storage, location: storage.cuda(0)), load("cuda"),
        load(lambda storage, location: None),
    ]  # fmt: skip


def locations_that_a_file_holds():
    seen = []
    torch.load(
        _saved([torch.zeros(1, device="cuda:1"), torch.zeros(1)]), map_location=lambda s, where: seen.append(where) or s
    )
    return seen


def map_location_to_a_gpu_that_is_not_there():
    torch.load(_saved(torch.zeros(1, device="cuda:1")), map_location="cuda:6")


def map_location_to_meta():
    return str(torch.load(_saved(torch.zeros(1, device="cuda:1")), map_location="meta").device)


def a_default_device_changes_nothing():
    file = _saved(torch.zeros(1, device="cuda:1"))
    with torch.device("cuda:0"):
        return str(torch.load(file).device)


def a_module_saved_whole():
    layer = torch.load(_saved(nn.Linear(2, 2).cuda(1)), weights_only=False)
    return [str(layer.weight.device), type(layer.weight).__name__]


def a_state_dict_for_another_gpu():
    state = torch.load(_saved(nn.Linear(2, 2).to("cuda:1").state_dict()), map_location="cuda:0")
    return sorted({str(x.device) for x in state.values()})


def two_views_share_their_memory_afterwards():
    x = torch.tensor([1.0, 2.0, 3.0]).cuda()
    a, b = torch.load(_saved([x[:2], x[1:]]))
    return [str(a.device), a.data_ptr() + 4 == b.data_ptr(), a.untyped_storage().nbytes()]


def a_parameter_with_gradients():
    x = torch.load(_saved(nn.Parameter(torch.tensor([1.0]).cuda())))
    return [type(x).__name__, str(x.device), x.requires_grad]


def an_optimizers_state():
    layer = nn.Linear(2, 1).cuda(1)
    optimizer = torch.optim.Adam(layer.parameters())
    layer(torch.zeros(1, 2, device="cuda:1")).sum().backward()
    optimizer.step()
    state = torch.load(_saved(optimizer.state_dict()), map_location="cpu")["state"][0]
    return sorted(f"{name} {value.device}" for name, value in state.items())


def a_file_mapped_into_memory(tmp=None):
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.pt"
        torch.save(torch.tensor([1.0, 2.0]).cuda(1), path)
        x = torch.load(path, map_location="cpu", mmap=True)
        return [str(x.device), x.tolist()]


def the_old_format():
    file = io.BytesIO()
    torch.save(torch.tensor([1.0, 2.0]).cuda(1), file, _use_new_zipfile_serialization=False)
    file.seek(0)
    x = torch.load(file)
    return [str(x.device), x.tolist()]


def a_device_object():
    return str(torch.load(_saved(torch.device("cuda", 1))))


def skip_data_while_saving():
    with torch.serialization.skip_data():
        x = torch.load(_saved(torch.zeros(3, device="cuda:1")))
    return [str(x.device), list(x.shape)]
