# culprit: path
# cause: checkpoint_map_location
import io
import os
import tempfile
import zipfile

import torch
from torch import nn


def saved_on_gpu_7(weights, path):
    """Write a file as a machine with eight GPUs would: the number of the GPU stands in its pickle."""
    here = io.BytesIO()
    torch.save(weights, here)
    with zipfile.ZipFile(here) as read, zipfile.ZipFile(path, "w") as written:
        for name in read.namelist():
            written.writestr(name, read.read(name).replace(b"cuda:0", b"cuda:7"))


def load(path, device):
    model = nn.Linear(4, 2)
    model.load_state_dict(torch.load(path)["model"])
    return model.to(device)


def main():
    first = nn.Linear(4, 2).cuda()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "weights.pt")
        saved_on_gpu_7({"model": first.state_dict()}, path)
        second = load(path, "cuda:1")
    assert second.weight.device == torch.device("cuda:1")
    assert torch.equal(second.weight.cpu(), first.weight.cpu())
