"""The exercises of notebooks/14-workers-and-forks.ipynb; their solutions stand there, folded."""

from typing import Any

import torch
from torch import nn
from torch.utils.data import Dataset, get_worker_info

from lessons.exercises import Exercise, Prediction, RefusedError
from lessons.exercises.staying import never_elsewhere


class Photos(Dataset):
    """Sixteen photos of twelve numbers and their labels, on the CPU; only a DataLoader's worker may read them."""

    def __init__(self) -> None:
        self._photos, self._labels = torch.randn(16, 12), torch.randint(2, (16,))

    def __len__(self) -> int:
        return len(self._labels)

    def __getitem__(self, index: int) -> Any:
        if get_worker_info() is None:
            raise RefusedError("The training process itself read a photo. A worker has to: keep num_workers=1.")
        return self._photos[index], self._labels[index]

    def batches(self) -> Any:
        return zip(self._photos.split(8), self._labels.split(8), strict=True)


def criterion(device: Any, encoder: nn.Module) -> nn.Module:
    """Return the loss of a batch, computed on this device, of what the encoder has encoded in this process."""
    encoded = []
    encoder.register_forward_hook(lambda *_: encoded.append(True))  # a child has a list of its own

    def refuse(*_: Any) -> None:
        if not encoded:
            raise RefusedError("The encoder was not called in the training process. It has to encode each batch there.")

    loss = never_elsewhere(nn.CrossEntropyLoss(), device)
    loss.register_forward_pre_hook(refuse)
    return loss


def head_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return an encoder and a head, both on the GPU; photos on the CPU."""
    device = devices[0]
    encoder, head = (never_elsewhere(nn.Linear(*sizes).to(device), device) for sizes in ((12, 8), (8, 2)))
    return encoder, head, criterion(device, encoder), Photos()


def head_reference(encoder: Any, head: Any, criterion: Any, photos: Photos) -> Any:
    return sum(criterion(head(encoder(photo)), label) for photo, label in photos.batches())


EXERCISES = {
    "a": Prediction(
        setup="""
import torch
from torch import nn
from torch.utils.data import DataLoader

photos = torch.zeros(8, 3)
dataset = [photo for photo in photos]
model = nn.Linear(3, 1).to("cuda")
fork = torch.multiprocessing.get_context("fork")
one_worker = {"num_workers": 1, "multiprocessing_context": "fork"}

def in_a_fork(function, *arguments, **options):
    with fork.Pool(1) as pool:
        return pool.apply(function, arguments, options)
""",
        programs=(
            "batch = in_a_fork(torch.zeros, 4, 3)",
            'batch = in_a_fork(torch.zeros, 4, 3, device="cuda")',
            'batch = in_a_fork(torch.zeros, 4, 3).to("cuda")',
            'batch = photos.to(in_a_fork(torch.device, "cuda"))',
            "batch = next(iter(DataLoader(dataset, 4, pin_memory=True, **one_worker)))",
            'batch = next(iter(DataLoader([photo.to("cuda") for photo in dataset], 4)))',
        ),
        result="batch",
        on_wrong=(
            "For each line: which part of it runs in a child, and which in the parent?",
            "For the part in the child: does it need the GPU or only name it?",
            "A child may use the CPU and send tensors. The parent may do all it likes with them.",
        ),
        about={
            5: "What does pinning do to a batch? See lesson 13.",
            6: "How many workers has this loader?",
        },
    ),
    "b": Exercise(
        parameters=("encoder", "head", "criterion", "photos"),
        arguments=head_arguments,
        reference=head_reference,
        on_error=(
            "Which lines run in the worker?",
            "The encoder is on the GPU, so it cannot be one of them. What can the worker hand out instead?",
            "Give the loader `photos` itself. Encode each batch in the loop, after you moved it.",
        ),
        on_wrong_device="Move photos and labels to the models' device; models and outputs stay there.",
        on_wrong_numbers="The loss differs from the CPU's: add up the losses of all batches, of 8 photos each.",
        result_on=0,
    ),
}
