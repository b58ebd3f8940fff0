"""The exercises of notebooks/14-async-transfers.ipynb; their solutions stand there, folded."""

from typing import Any

import torch
from torch import nn

from lessons.exercises import Exercise
from lessons.exercises.staying import never_elsewhere


def step_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """A model and a criterion on the GPU; a batch and its target in pinned memory."""
    return (
        never_elsewhere(nn.Linear(3, 1).to(devices[0]), devices[0]),
        never_elsewhere(nn.MSELoss(), devices[0]),
        torch.randn(8, 3).pin_memory(),
        torch.randn(8, 1).pin_memory(),
    )


def step_reference(model: Any, criterion: Any, batch: Any, target: Any) -> Any:
    return criterion(model(batch), target)


def one_step_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """A learned table and its optimizer on the CPU; a frozen model, a criterion and the target on the GPU."""
    table = torch.randn(8, 3, requires_grad=True)
    optimizer = torch.optim.SGD([table], lr=2.0)
    optimizer.register_step_pre_hook(refuse_a_moved_table)
    return (
        table,
        never_elsewhere(nn.Linear(3, 4).requires_grad_(False).to(devices[0]), devices[0]),
        never_elsewhere(nn.MSELoss(), devices[0]),
        optimizer,
        torch.randn(8, 4).to(devices[0]),
    )


def refuse_a_moved_table(optimizer: Any, args: Any, kwargs: Any) -> None:
    """Before a step: on another device the numbers would be right, too, and the table would not fit there."""
    if any(table.device.type != "cpu" for group in optimizer.param_groups for table in group["params"]):
        raise RuntimeError("here the table is on a GPU: leave it on the CPU, only its copy goes there.")


def one_step_reference(table: Any, model: Any, criterion: Any, optimizer: Any, target: Any) -> Any:
    criterion(model(table), target).backward()
    optimizer.step()
    with torch.no_grad():
        return criterion(model(table), target)


EXERCISES = {
    "a": Exercise(
        parameters=("model", "criterion", "batch", "target"),
        arguments=step_arguments,
        reference=step_reference,
        on_error="Pinned, both are still on the CPU. Two lines make copies on the GPU: which names keep them?",
        on_wrong_device="Leave the model on the GPU, and compute the loss there: batch and target go to it.",
        on_wrong_numbers="The loss differs from the CPU's: move the tensors and leave the computation as it was.",
        result_on=0,
    ),
    "b": Exercise(
        parameters=("table", "model", "criterion", "optimizer", "target"),
        arguments=one_step_arguments,
        reference=one_step_reference,
        on_error="The copy in use was made under no_grad: print its requires_grad. When is a copy out of date?",
        on_wrong_device="Leave the model on the GPU, and compute the loss there: a copy of the table goes to it.",
        on_wrong_numbers="The loss differs from the CPU's: did the step change the table, and is the copy newer?",
        result_on=0,
    ),
}
