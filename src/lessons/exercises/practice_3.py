"""The puzzles of notebooks/practice-3-several-gpus.ipynb; their solutions stand there, folded."""

import contextlib
import warnings
import weakref
from collections.abc import Iterator
from typing import Any
from unittest import mock

import torch
from torch import distributed, nn
from torch.nn import functional

from lessons.exercises import Exercise, RefusedError
from lessons.exercises.lesson_18 import in_a_group
from lessons.exercises.staying import EachCopy, never_elsewhere, never_moved, plain_wrapper, with_gradients

ROWS = 16  # of a batch


@contextlib.contextmanager
def current_gpu_kept() -> Iterator[None]:
    """Make the GPU that was current current again: an answer may choose another one."""
    before = torch.cuda.current_device()
    try:
        yield
    finally:
        torch.cuda.set_device(before)


# 1: more classes


def classes_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a layer of three classes on the second GPU, and how many classes are new."""
    layer = nn.Linear(8, 3).to(devices[1])
    return never_moved(layer, f"The layer was moved. It has to stay on {devices[1]}."), 2


def classes_reference(layer: Any, new: Any) -> Any:
    wider = nn.Linear(layer.in_features, layer.out_features + new)
    with torch.no_grad():
        wider.weight.copy_(torch.cat([layer.weight, torch.zeros(new, layer.in_features)]))
        wider.bias.copy_(torch.cat([layer.bias, torch.zeros(new)]))
    return wider


def trained_twice(layer: Any, devices: list[Any]) -> Any:
    """Return what a layer says after two steps of training, where it is."""
    if not isinstance(layer, nn.Linear):
        raise RefusedError(f"more_classes has to return an nn.Linear, and returned {type(layer).__name__!r}.")
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(ROWS, 8, generator=generator).to(layer.weight.device)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
    for _ in range(2):
        optimizer.zero_grad()
        layer(x).square().mean().backward()
        optimizer.step()
    return layer(x)


# 2: GPUs from the command line


def gpus_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a model and flats on the CPU, and the GPUs in an order that begins with the second one."""
    model = nn.Linear(3, 1)
    flats = torch.randn(ROWS, 3)
    flats[0] = torch.tensor([9.0, 9.0, 9.0])

    def refuse(module: nn.Module, inputs: tuple[Any, ...]) -> None:
        if bool((inputs[0][0] == 9.0).all()) and inputs[0].device != devices[1]:
            raise RefusedError(f"The first half came to {inputs[0].device}. It belongs on the first GPU of gpus.")

    model.register_forward_pre_hook(refuse)
    return a_half_on_each(model, devices), flats, [1, 0]


def a_half_on_each(module: nn.Module, devices: list[Any]) -> nn.Module:
    """Return the module; it computes with one half of a batch on each GPU, or it raises."""
    came: list[Any] = []

    def refuse(module: nn.Module, inputs: tuple[Any, ...]) -> None:
        rows, place = len(inputs[0]), inputs[0].device
        if len(set(devices)) == 1:
            return  # the CPU, which the reference computes on
        if rows != ROWS // 2:
            raise RefusedError(f"{rows} rows came to {place}. Each GPU has to get a half of the batch.")
        if place in came:
            raise RefusedError(f"Both halves came to {place}. Each GPU has to get one.")
        came.append(place)

    module.register_forward_pre_hook(refuse)
    return module


def gpus_reference(model: Any, flats: Any, gpus: Any) -> Any:
    return model(flats)


# 3: what the network adds


def denoise_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a layer on each GPU; noise and two schedules of three steps on the first."""
    first, second = nn.Linear(6, 8).to(devices[0]), nn.Linear(8, 6).to(devices[1])
    noisy, keep, change = torch.randn(4, 6), torch.rand(3) + 0.5, torch.rand(3) + 0.5
    for layer, place in ((first, devices[0]), (second, devices[1])):
        never_moved(layer, f"A layer was moved. This one has to stay on {place}.")
    return (first, second, *(tensor.to(devices[0]) for tensor in (noisy, keep, change)))


def denoise_reference(first: Any, second: Any, noisy: Any, keep: Any, change: Any) -> Any:
    for step in range(3):
        noisy = second(first(noisy).relu()) * change[step] + noisy * keep[step]
    return noisy


def two_copies_a_step() -> EachCopy:
    """Refuse more than two copies a step between the GPUs, and all work on the CPU."""
    copies = 0

    def look(tensor: Any, to: Any) -> None:
        nonlocal copies
        if tensor.device.type == "cpu":
            raise RefusedError("A tensor came from the CPU. All of this happens on the two GPUs.")
        copies += to.type != "cpu"
        if copies > 6:
            raise RefusedError("More than two tensors cross in a step. Which two are enough?")

    return EachCopy(look)


# 4: one direction less


def direction_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return four layers, on each GPU in turn, and a direction on the first."""
    layers = [nn.Linear(6, 6, bias=False) for _ in range(4)]
    for number, layer in enumerate(layers):
        layer.to(devices[number % 2])
        layer.known = weakref.ref(layer.weight)
        layer.place = devices[number % 2]
    return nn.ModuleList(layers), torch.randn(6).to(devices[0])


def direction_reference(layers: Any, direction: Any) -> Any:
    unit = functional.normalize(direction, dim=0)
    with torch.no_grad():
        for layer in layers:
            layer.weight -= torch.outer(unit, unit @ layer.weight)
    return layers


def weights_of(layers: Any, _: list[Any]) -> Any:
    """Return all weights, where the last layer is; refuse another parameter, or a layer in another place."""
    for number, layer in enumerate(layers):
        if layer.known() is not layer.weight:
            raise RefusedError(f"Layer {number} has another weight now, and an optimizer still holds the old one.")
        if layer.weight.is_cuda and layer.weight.device != layer.place:
            raise RefusedError(f"Layer {number} is on {layer.weight.device} now. It has to stay on {layer.place}.")
        if not layer.weight.requires_grad:
            raise RefusedError(f"Layer {number} does not learn any more.")
    return torch.cat([layer.weight.to(layers[-1].weight.device) for layer in layers]).detach()


def no_matrix_comes() -> EachCopy:
    """Refuse to bring a matrix to a GPU: only the direction is small."""

    def look(tensor: Any, to: Any) -> None:
        if to.type == "cuda" and tensor.numel() > 6:
            raise RefusedError(f"A whole matrix was copied to {to}. The direction is smaller.")

    return EachCopy(look)


# 5: a score for each answer


def scores_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a layer and questions, on the CPU."""
    return a_half_on_each(nn.Linear(6, 4), devices), torch.randn(ROWS, 6)


def scores_reference(layer: Any, questions: Any) -> Any:
    return layer(questions).sigmoid()


# 6: as long as the longest


def texts_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return an embedding and texts on the CPU; the longest of each half has another length, and 0 is padding."""
    lengths = torch.tensor([3, 5, 2, 4, 1, 5, 3, 2, 6, 9, 4, 2, 7, 3, 8, 1])
    texts = torch.randint(1, 10, (ROWS, 12))
    return a_half_on_each(nn.Embedding(10, 4), devices), texts * (torch.arange(12) < lengths.unsqueeze(1))


def texts_reference(embedding: Any, texts: Any) -> Any:
    return embedding(texts[:, : int((texts > 0).sum(dim=1).max())])


# 7: counted on every rank


def counts_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a classifier of three classes and two batches on the second GPU, which is this rank's."""
    model = never_elsewhere(nn.Linear(4, 3).to(devices[1]), devices[1])
    batches = [(torch.randn(8, 4), torch.randint(3, (8,))) for _ in range(2)]
    return model, [(x.to(devices[1]), label.to(devices[1])) for x, label in batches]


def counts_reference(model: Any, batches: Any) -> Any:
    right = sum((model(x).argmax(dim=1) == label).sum() for x, label in batches)
    return 2 * torch.tensor([right, sum(len(label) for _, label in batches)])


@contextlib.contextmanager
def a_group_on_gpus() -> Iterator[None]:
    """Make this process a group of one whose backend takes tensors on GPUs alone."""
    own = not distributed.is_initialized()
    if own:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that on simulated GPUs gloo does the work of NCCL
            distributed.init_process_group("nccl", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        yield
    finally:
        if own:
            distributed.destroy_process_group()


@contextlib.contextmanager
def as_rank_1() -> Iterator[None]:
    """Play rank 1 of two, of which rank 0 has counted just as much."""
    reduce, devices = distributed.all_reduce, [torch.device("cuda", 0), torch.device("cuda", 1)]

    def all_reduce(tensor: Any, op: Any = distributed.ReduceOp.SUM, *args: Any, **kwargs: Any) -> None:
        reduce(tensor, op, *args, **kwargs)  # says what is wrong with the tensor
        if tensor.device != devices[1]:
            raise RefusedError(f"The tensor is on {tensor.device}, which is the GPU of rank 0. This is rank 1.")
        if op == distributed.ReduceOp.SUM:
            tensor *= 2

    with (
        current_gpu_kept(),
        mock.patch.object(distributed, "all_reduce", all_reduce),
        mock.patch.object(distributed, "get_rank", lambda group=None: 1),
        mock.patch.object(distributed, "get_world_size", lambda group=None: 2),
    ):
        yield


# 8: frozen on the way


class Frozen(nn.Module):
    """A network whose body learns from two batches only. It is called through DistributedDataParallel, without a flag.

    It may be wrapped twice: DistributedDataParallel makes its list of parameters where it wraps.
    """

    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = nn.Linear(3, 8), nn.Linear(8, 1)
        self.wrappers: list[Any] = []
        self.calls = 0

    def forward(self, x: Any) -> Any:
        wrapper = plain_wrapper()
        if all(known() is not wrapper for known in self.wrappers):
            self.wrappers.append(weakref.ref(wrapper))
        if len(self.wrappers) > 2:
            raise RefusedError("The model was wrapped more than twice. How often does the list of parameters change?")
        learns = {parameter.requires_grad for parameter in self.body.parameters()}
        if self.calls >= 2 and True in learns:
            raise RefusedError("From the third batch on, the body is frozen: nothing computes gradients for it.")
        if self.calls < 2 and False in learns:
            raise RefusedError("The body has to learn from the first two batches.")
        self.calls += 1
        return self.compute(x)

    def compute(self, x: Any) -> Any:
        return self.head(self.body(x).relu())


def frozen_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a network and five batches on the CPU."""
    return Frozen(), in_a_group([(torch.randn(ROWS, 3), torch.randn(ROWS, 1)) for _ in range(5)])


def frozen_reference(net: Any, batches: Any) -> Any:
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    for step, (x, y) in enumerate(batches):
        if step == 2:
            net.body.requires_grad_(False)
        optimizer.zero_grad()
        functional.mse_loss(net.compute(x), y).backward()
        optimizer.step()
    return net


def says_of_flats(net: Any, _: list[Any]) -> Any:
    """Return what a network says of flats, once it has learnt."""
    if not isinstance(net, Frozen):
        raise RefusedError("train has to return net itself, without its wrapper.")
    with torch.no_grad():
        return net.compute(torch.linspace(-1, 1, 24).reshape(8, 3))


EXERCISES = {
    "1": Exercise(
        parameters=("layer", "new"),
        arguments=classes_arguments,
        reference=classes_reference,
        on_error=(
            "Two tensors meet in the line that fails. Who chose the GPU of each?",
            "Three lines say .cuda(), which is the current GPU. And layer says which GPU it is on.",
            "Take device = layer.weight.device, and use it in all three places.",
        ),
        on_wrong_numbers="The old classes keep their weights and biases, and the new ones begin with zeros.",
        on_wrong_device=(
            "Which lines name no GPU by its number?",
            "copy_ copies from any device, so nothing complains about a wider layer in the wrong place.",
        ),
        result_on=1,
        use=trained_twice,
        around=current_gpu_kept,
    ),
    "2": Exercise(
        parameters=("model", "flats", "gpus"),
        arguments=gpus_arguments,
        reference=gpus_reference,
        on_error=(
            "The message names two GPUs. Which of them does the program choose, and which does gpus?",
            "DataParallel copies the model from the first GPU of device_ids, so all of it has to be there.",
            'Move the model to f"cuda:{gpus[0]}". The flats may be anywhere: DataParallel sends each half.',
        ),
        on_wrong_numbers="Return the predictions of the model for all flats.",
        on_wrong_device="The first of gpus is 1, and the predictions belong there. Leave the list as it is.",
        result_on=1,
        around=current_gpu_kept,
    ),
    "3": Exercise(
        parameters=("first", "second", "noisy", "keep", "change"),
        arguments=denoise_arguments,
        reference=denoise_reference,
        on_error=(
            "In the line that fails, where is each of the five tensors?",
            "Only output is on cuda:1, because second left it there. What meets it is on cuda:0.",
            "One tensor has to come back: output, to the device of noisy.",
        ),
        on_wrong_numbers="The result or its gradients differ from the CPU's. A .to() keeps both, a detach does not.",
        on_wrong_device="After each step, the noise is where it was: on cuda:0.",
        result_on=0,
        use=with_gradients,
        around=two_copies_a_step,
    ),
    "4": Exercise(
        parameters=("layers", "direction"),
        arguments=direction_arguments,
        reference=direction_reference,
        on_error=(
            "Which layer is the first that fails? Print the device of its weight and that of the direction.",
            "The layers stay, so the small tensor has to come to each of them.",
            "In the loop, take unit = direction.to(layer.weight.device), and compute with that.",
        ),
        on_wrong_numbers="Each weight loses its part along the direction, once.",
        on_wrong_device="The last layer is not on cuda:1 any more. Leave the layers where they are.",
        result_on=1,
        use=weights_of,
        around=no_matrix_comes,
    ),
    "5": Exercise(
        parameters=("layer", "questions"),
        arguments=scores_arguments,
        reference=scores_reference,
        on_error=(
            "Replica 1 computes on cuda:1. With which layer: its own, or that of the model on cuda:0?",
            "A replica gets parameters, buffers and layers. What else __init__ stores is the model's own.",
            "self.by_dot, as __init__ stored it, is a method of the model on cuda:0. Look it up in forward.",
        ),
        on_wrong_numbers="The scores differ from the CPU's: all questions, in their order, through layer and sigmoid.",
        on_wrong_device="DataParallel joins the scores on the first GPU. Leave them there.",
        result_on=0,
    ),
    "6": Exercise(
        parameters=("embedding", "texts"),
        arguments=texts_arguments,
        reference=texts_reference,
        on_error=(
            "The message names two shapes. Which of their sizes differ, and which line decides that size?",
            "Each replica looks for the longest text of its own half.",
            "Shorten the whole batch before the call, and take that line out of forward.",
        ),
        on_wrong_numbers="The result has as many places as the longest of all texts has words.",
        on_wrong_device="DataParallel joins the vectors on the first GPU. Leave them there.",
        result_on=0,
    ),
    "7": Exercise(
        parameters=("model", "batches"),
        arguments=counts_arguments,
        reference=counts_reference,
        on_error=(
            "Which tensor does all_reduce get, and on which device was it created?",
            "This group carries tensors from GPU to GPU. Each rank has its own GPU, and the batches are there.",
            "Create counts on the device of the labels: torch.tensor(..., device=label.device).",
        ),
        on_wrong_numbers="The counts are the sums over both ranks: the right ones, and all.",
        inside=a_group_on_gpus,
        around=as_rank_1,
    ),
    "8": Exercise(
        parameters=("net", "batches"),
        arguments=frozen_arguments,
        reference=frozen_reference,
        on_error=(
            "In which step does a gradient go missing for the first time, and when is that noticed?",
            "DistributedDataParallel made its list of parameters when it wrapped net, and the body is still in it.",
            "Freeze the body before the third batch, and wrap net again in that step, once.",
        ),
        on_wrong_numbers="Two batches train all of net, and three train the head alone. The optimizer stays the same.",
        use=says_of_flats,
    ),
}
