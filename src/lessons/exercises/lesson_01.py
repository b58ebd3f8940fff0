"""The exercises of notebooks/01-two-tensors.ipynb; their solutions stand there, folded."""

from typing import Any

import torch
from torch import nn

from lessons.exercises import Exercise, Prediction
from lessons.exercises.staying import never_elsewhere


def accuracy_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a classifier of three kinds of clothes on the GPU; images and their labels on the CPU."""
    model = nn.Sequential(nn.Flatten(), nn.Linear(16, 3))
    return never_elsewhere(model.to(devices[0]), devices[0]), torch.randn(32, 4, 4), torch.randint(3, (32,))


def accuracy_reference(model: Any, images: Any, labels: Any) -> Any:
    return (model(images).argmax(dim=1) == labels).float().mean()


EXERCISES = {
    "a": Prediction(
        setup="""
import torch

on_gpu, on_cpu = torch.ones(3, device="cuda"), torch.ones(3)
number = torch.tensor(2.0)
""",
        programs=(
            "result = on_gpu + on_cpu",
            "result = on_cpu * number",
            "result = on_gpu > number",
            "result = on_gpu * torch.tensor([2.0])",
            'result = on_cpu * number.to("cuda")',
            'on_cpu.to("cuda"); result = on_gpu + on_cpu',
        ),
        result="result",
        on_wrong=(
            "Where is each of the two tensors, and what is its shape?",
            "In arithmetic, a number of shape () on the CPU may join a GPU tensor, and not the other way round.",
            ".to() returns a copy. In line 6, who keeps it?",
        ),
    ),
    "b": Exercise(
        parameters=("model", "images", "labels"),
        arguments=accuracy_arguments,
        reference=accuracy_reference,
        on_error=(
            "Which two tensors meet in the line that fails, and where is each of them?",
            "Two lines mix devices: fix the one that fails, then run it again.",
            "Bring the images and the labels to the model, before the first line that uses them.",
        ),
        on_wrong_numbers="The accuracy differs from the CPU's: move tensors, and leave the computation as it was.",
    ),
}
