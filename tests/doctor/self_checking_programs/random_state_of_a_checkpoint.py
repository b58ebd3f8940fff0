# culprit: saved["random"]
# cause: rng_state_on_gpu | checkpoint_map_location
import io

import torch


def resume(file, device):
    saved = torch.load(file, map_location=device)
    torch.set_rng_state(saved["random"])
    return saved["weights"]


def main():
    file = io.BytesIO()
    torch.save({"random": torch.get_rng_state(), "weights": torch.ones(2)}, file)
    expected = torch.rand(3)
    file.seek(0)
    weights = resume(file, torch.device("cuda"))
    assert weights.is_cuda and torch.equal(torch.rand(3), expected)
