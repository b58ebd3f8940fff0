"""The exercises of notebooks/01-two-tensors.ipynb; their solutions stand there, folded."""

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from lessons.exercises import Exercise
from lessons.exercises.staying import never_elsewhere


def loss_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """A model on the GPU; a batch and its target on the CPU."""
    return never_elsewhere(nn.Linear(4, 1).to(devices[0]), devices[0]), torch.randn(8, 4), torch.randn(8, 1)


def loss_reference(model: Any, batch: Any, target: Any) -> Any:
    return functional.mse_loss(model(batch), target)


def matrix_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """A classifier of three classes on the GPU; three batches with their labels on the CPU."""
    batches = [(torch.randn(16, 4), torch.randint(3, (16,))) for _ in range(3)]
    return never_elsewhere(nn.Linear(4, 3).to(devices[0]), devices[0]), batches


def matrix_reference(model: Any, batches: Any) -> Any:
    matrix = torch.zeros(3, 3, dtype=torch.long)
    for batch, label in batches:
        predicted = model(batch).argmax(dim=1)
        matrix += torch.bincount(label * 3 + predicted, minlength=9).reshape(3, 3)
    return matrix


EXERCISES = {
    "a": Exercise(
        parameters=("model", "batch", "target"),
        arguments=loss_arguments,
        reference=loss_reference,
        on_error="Move the batch and the target to the model's device first, and keep what .to() returns.",
        on_wrong_device="Bring the batch to the model, not the model to the batch.",
        on_wrong_numbers="The loss differs from the CPU's: move the tensors and leave the computation as it was.",
        result_on=0,
    ),
    "b": Exercise(
        parameters=("model", "batches"),
        arguments=matrix_arguments,
        reference=matrix_reference,
        on_error="In the line that fails, print the device of every tensor. Two lines fail: mend one, then run again.",
        on_wrong_numbers="The counts differ from the CPU's: every label of every batch is counted once.",
    ),
}
