"""The puzzles of notebooks/practice-2-more-cases.ipynb; their solutions stand there, folded."""

import contextlib
import io
import warnings
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import Dataset, get_worker_info

from lessons.exercises import Exercise, RefusedError
from lessons.exercises.staying import CopiesAllowed, CopiesToGPU, never_elsewhere, never_fetched

ELSEWHERE = "cuda:3"  # where the checkpoint was written; the lessons have one or two GPUs


def on_gpu(layer: nn.Module, devices: list[Any]) -> nn.Module:
    """Return a layer on the GPU that has to compute there."""
    return never_elsewhere(layer.to(devices[0]), devices[0])


def scores_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a model and three batches on the GPU."""
    return on_gpu(nn.Linear(4, 3), devices), [torch.randn(5, 4).to(devices[0]) for _ in range(3)]


def scores_reference(model: Any, batches: Any) -> Any:
    return np.concatenate([model(batch).detach().numpy() for batch in batches])


def as_tensor(array: Any, _: list[Any]) -> Any:
    """Return a tensor of a NumPy array, and refuse anything else."""
    if not isinstance(array, np.ndarray):
        raise RefusedError(f"plot needs a NumPy array, and got {type(array).__name__!r}.")
    return torch.from_numpy(array)


def bank_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return queries and keys on the GPU; on the CPU, the bank with a row for each key."""
    queries, keys = (torch.randn(rows, 4).to(devices[0]) for rows in (6, 20))
    return never_fetched(queries), never_fetched(keys), never_fetched(torch.randn(20, 8))


def bank_reference(queries: Any, keys: Any, bank: Any) -> Any:
    nearest = torch.cdist(queries, keys).topk(3, largest=False).indices
    return torch.stack([bank[row].mean(dim=0) for row in nearest])


def one_copy(otherwise: str, result: tuple[int, ...] = ()) -> CopiesAllowed:
    """Refuse a second copy from the GPU, if it is not of a tensor with the result's shape."""
    copied = []

    def is_first(tensor: Any, _: Any) -> bool:
        if tensor.shape != result:
            copied.append(tensor)
        return len(copied) <= 1

    return CopiesAllowed(is_first, otherwise)


@contextlib.contextmanager
def one_copy_each_way() -> Iterator[None]:
    """Refuse a second copy from the GPU, and a second one to it."""
    there = CopiesToGPU("More than one tensor is copied to the GPU. Copy the result, at the end.", in_all=1)
    back = one_copy("More than one tensor is copied to the CPU. Copy the numbers of all rows at once.", (6, 8))
    with there, back:
        yield


def resume_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a file that names a GPU which is not here; a model and three batches on the first GPU."""
    trained, model = nn.Linear(3, 1).to(devices[0]), nn.Linear(3, 1)
    average = {name: value.detach() * 0.5 for name, value in trained.state_dict().items()}
    file = io.BytesIO()
    with patch("torch.serialization.location_tag", lambda storage: ELSEWHERE if storage.is_cuda else "cpu"):
        torch.save({"model": trained.state_dict(), "average": average}, file)
    file.seek(0)
    batches = [(torch.randn(8, 3).to(devices[0]), torch.randn(8, 1).to(devices[0])) for _ in range(3)]
    return file, on_gpu(model, devices), batches


def resume_reference(file: Any, model: Any, batches: Any) -> Any:
    checkpoint = torch.load(file, map_location="cpu")
    model.load_state_dict(checkpoint["model"])
    average = checkpoint["average"]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches:
        optimizer.zero_grad()
        functional.mse_loss(model(x), y).backward()
        optimizer.step()
        for name, parameter in model.named_parameters():
            average[name].lerp_(parameter.detach(), 0.5)
    return average["weight"]


def jobs_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return models, each with the number of its GPU or None for the CPU; batches on the CPU."""

    def job(place: Any) -> tuple[Any, Any]:
        return never_elsewhere(nn.Linear(4, 2).to(place), place), place.index

    places = [torch.device("cpu"), devices[0], torch.device("cpu"), devices[0]]
    return [job(place) for place in places], [torch.randn(3, 4) for _ in range(2)]


def jobs_reference(jobs: Any, batches: Any) -> Any:
    return torch.cat([model(batch) for model, _ in jobs for batch in batches])


class Shuffled(Dataset[Any]):
    """Thirty-two flats and their rents on the CPU, which keeps the order in which they are read."""

    def __init__(self) -> None:
        self.flats, self.rents, self.read = torch.randn(32, 3), torch.randn(32, 2), list[int]()

    def __len__(self) -> int:
        return len(self.flats)

    def __getitem__(self, index: int) -> Any:
        self.read.append(index)
        return self.flats[index], self.rents[index]


def refuse_an_order(model: Any, dataset: Shuffled) -> None:
    """Let the model raise if the flats are read in their order: no loader has to be asked for its options."""

    def look(*_: Any) -> None:
        if len(dataset.read) > 4 and dataset.read == sorted(dataset.read):
            raise RefusedError("The flats come in their order. Keep shuffle=True.")

    model.register_forward_pre_hook(look)


def rents_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a model on the GPU, and a dataset on the CPU."""
    model, dataset = on_gpu(nn.Linear(3, 2), devices), Shuffled()
    if devices[0].type == "cuda":
        refuse_an_order(model, dataset)
    return model, dataset


def rents_reference(model: Any, dataset: Any) -> Any:
    return functional.mse_loss(model(dataset.flats), dataset.rents, reduction="none").sum(dim=0)


@contextlib.contextmanager
def default_device_stays() -> Iterator[None]:
    """Refuse an answer that leaves another default device behind, and bring the old one back."""

    def default() -> torch.device:
        return torch.empty(0).device  # torch.get_default_device() knows nothing of a default tensor type

    before = default()
    try:
        yield
        if default() != before:
            raise RefusedError("The default device is another one now, for all code that follows. Leave it as it was.")
    finally:
        if default() != before:
            torch.set_default_device(None)
            with warnings.catch_warnings():  # it is deprecated, as is what it brings back
                warnings.simplefilter("ignore")
                torch.set_default_tensor_type(torch.FloatTensor)
        if default() != before:
            torch.set_default_device(before)


class Momentum(torch.optim.Optimizer):
    """An optimizer that goes along a mean of the gradients, which it keeps where the parameter is."""

    def step(self, closure: Any = None) -> None:
        with torch.no_grad():
            for p in self.param_groups[0]["params"]:
                if p not in self.state:
                    self.state[p]["mean"] = torch.zeros_like(p)
                mean = self.state[p]["mean"]
                mean.mul_(0.9).add_(p.grad)
                p.sub_(mean, alpha=0.1)


def momentum_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return two layers: the first on the CPU, the second on the GPU."""
    return nn.Linear(3, 4), nn.Linear(4, 1).to(devices[0])


def momentum_reference(first: Any, second: Any) -> Any:
    return Momentum([*first.parameters(), *second.parameters()], {})


def trained(optimizer: Any, devices: list[Any]) -> Any:
    """Take four steps with an optimizer of two layers; refuse one that copies its numbers in each step."""
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise RefusedError(f"momentum has to return an optimizer, and returned {type(optimizer).__name__!r}.")
    first_weight, first_bias, weight, bias = optimizer.param_groups[0]["params"]
    random = torch.Generator().manual_seed(3)
    x, y = torch.randn(8, 3, generator=random), torch.randn(8, 1, generator=random).to(devices[0])
    losses = []
    for step in range(4):
        hidden = functional.linear(x, first_weight, first_bias).relu().to(devices[0])
        loss = functional.mse_loss(functional.linear(hidden, weight, bias), y)
        optimizer.zero_grad()
        loss.backward()
        there = CopiesToGPU("Each step copies to the GPU. Create the mean where its parameter is.", in_all=4 - step)
        back = CopiesAllowed(lambda *_: False, "A step copies from the GPU. Leave the mean where its parameter is.")
        with there, back:
            optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def latents_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a model and a list of latents on the GPU; on the CPU, the captions, a list of tensors too."""
    latents = [never_fetched(latent.to(devices[0])) for latent in torch.randn(12, 4)]
    return on_gpu(nn.Linear(5, 4), devices), latents, list(torch.randn(12, 5))


def latents_reference(model: Any, latents: Any, captions: Any) -> Any:
    both = zip(torch.stack(latents).split(4), torch.stack(captions).split(4), strict=True)
    return torch.stack([functional.mse_loss(model(caption), latent) for latent, caption in both])


class Notes(Dataset[Any]):
    """Sixteen notes of four numbers and what follows, on the CPU; only a DataLoader's worker may read them."""

    def __init__(self) -> None:
        self._notes, self._following = torch.randn(16, 4), torch.randn(16, 1)

    def __len__(self) -> int:
        return len(self._notes)

    def __getitem__(self, index: int) -> Any:
        if get_worker_info() is None:
            raise RefusedError("The training process itself read a note. A worker has to: keep num_workers=1.")
        return self._notes[index], self._following[index]

    def batches(self) -> Any:
        return zip(self._notes.split(4), self._following.split(4), strict=True)


def notes_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a model on the GPU, and a dataset on the CPU."""
    return on_gpu(nn.Linear(4, 1), devices), Notes()


def notes_reference(model: Any, notes: Notes) -> Any:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for note, following in notes.batches():
        loss = functional.mse_loss(model(note), following)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


EXERCISES = {
    "1": Exercise(
        parameters=("model", "batches"),
        arguments=scores_arguments,
        reference=scores_reference,
        on_error=(
            "Where are the scores? The message says what NumPy cannot read, and what to call first.",
            "Two things keep a tensor from NumPy: the GPU, and a history of gradients. PyTorch names one at a time.",
            "Write .detach().cpu().numpy(), or compute under torch.no_grad() and write .cpu().numpy().",
        ),
        on_wrong_numbers="The scores differ from the CPU's: return all of all batches, in their order.",
        use=as_tensor,
    ),
    "2": Exercise(
        parameters=("queries", "keys", "bank"),
        arguments=bank_arguments,
        reference=bank_reference,
        on_error=(
            "Which tensor is indexed in the failing line, and where is it? Where is `row`?",
            "A tensor on the CPU takes no index from the GPU, and the bank must not move. So what moves?",
            "Bring `nearest` to the CPU once, before the loop, and the finished result to the GPU.",
        ),
        on_wrong_numbers="The features differ from the CPU's: take the mean of the three nearest rows of each query.",
        on_wrong_device="Return the features where the queries are: move the finished result there.",
        result_on=0,
        around=one_copy_each_way,
    ),
    "3": Exercise(
        parameters=("file", "model", "batches"),
        arguments=resume_arguments,
        reference=resume_reference,
        on_error=(
            "Which GPU does the file name? And who uses each of its two entries?",
            "load_state_dict copies to where the model is. But the average is used as it comes from the file.",
            "Load all of it to where the model is: map_location=next(model.parameters()).device.",
        ),
        on_wrong_numbers="The average differs from the CPU's: load both entries, and update the average in each step.",
        on_wrong_device="Keep the average where the model is, so that no step has to copy.",
        result_on=0,
        around=lambda: one_copy("Weights are copied to the CPU in each step. Keep the average on the GPU."),
    ),
    "4": Exercise(
        parameters=("jobs", "batches"),
        arguments=jobs_arguments,
        reference=jobs_reference,
        on_error=(
            "Print gpu and model.weight.device for each job. Which job fails?",
            "What is bool(0)? The first GPU has the number 0.",
            "Ask `if gpu is not None`, or ask the model for its device.",
        ),
        on_wrong_numbers="The predictions differ from the CPU's: all jobs, all batches, in their order.",
    ),
    "5": Exercise(
        parameters=("model", "dataset"),
        arguments=rents_arguments,
        reference=rents_reference,
        on_error=(
            "Which line makes the loader ask for random numbers on the GPU?",
            "A default device is where new tensors are created. It moves none that is there, such as the flats.",
            "Leave the default alone. Move each batch, and create the total with device=...",
        ),
        on_wrong_numbers="The sums differ from the CPU's: add up all batches, and leave the loss as it was.",
        on_wrong_device="Create the total on the GPU, and move the batches there.",
        result_on=0,
        around=default_device_stays,
    ),
    "6": Exercise(
        parameters=("first", "second"),
        arguments=momentum_arguments,
        reference=momentum_reference,
        on_error=(
            "Which tensors meet in the failing line, for which of the parameters?",
            "The mean is created on the CPU, for each parameter, wherever that is.",
            "Create it like its parameter: torch.zeros_like(p).",
        ),
        on_wrong_numbers=(
            "Is the mean kept from step to step? self.state[p] has to hold the tensor that changes.",
            "A copy in another place does not change with the one in the state. Create it in the right place.",
        ),
        on_wrong_device="Return the optimizer, and leave both layers where they are.",
        result_on=0,
        use=trained,
    ),
    "7": Exercise(
        parameters=("model", "latents", "captions"),
        arguments=latents_arguments,
        reference=latents_reference,
        on_error=(
            "What does pin_memory do to a batch, and where are the two tensors of a batch?",
            "Only what is on the CPU can be pinned. The loader pins all of a batch, or nothing.",
            "Leave out pin_memory=True. The captions still have to be moved, the latents need not be.",
        ),
        on_wrong_numbers="The losses differ from the CPU's: batches of four, in their order.",
        on_wrong_device="Compute on the GPU: the latents are there already.",
        result_on=0,
        around=lambda: CopiesAllowed(
            lambda tensor, _: tensor.shape == (3,), "A latent is copied to the CPU. Leave the latents on the GPU."
        ),
    ),
    "8": Exercise(
        parameters=("model", "notes"),
        arguments=notes_arguments,
        reference=notes_reference,
        on_error=(
            "Which process runs to_batch?",
            "The worker was forked from a process that uses CUDA. It must not use CUDA itself.",
            "Let to_batch stack and nothing else, and move each batch in the loop.",
        ),
        on_wrong_numbers="The losses differ from the CPU's: batches of four, in their order, and a step for each.",
        on_wrong_device="Train where the model is: move each batch there.",
        result_on=0,
    ),
}
