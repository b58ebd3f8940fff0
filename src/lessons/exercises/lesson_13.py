"""The exercises of notebooks/13-async-transfers.ipynb; their solutions stand there, folded."""

from typing import Any

import torch
from torch import nn

from lessons.exercises import Exercise, Prediction, RefusedError
from lessons.exercises.staying import never_elsewhere


def one_step_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a table that learns on the CPU, its optimizer, and a frozen model, criterion and target on the GPU."""
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
    """Raise before a step if the table was moved: its numbers would be right there, too, but it would not fit."""
    if any(table.device.type != "cpu" for group in optimizer.param_groups for table in group["params"]):
        raise RefusedError("The table is on a GPU. It has to stay on the CPU, and only its copy goes there.")


def one_step_reference(table: Any, model: Any, criterion: Any, optimizer: Any, target: Any) -> Any:
    criterion(model(table), target).backward()
    optimizer.step()
    with torch.no_grad():
        return criterion(model(table), target)


EXERCISES = {
    "a": Prediction(
        setup="""
import torch

batch = torch.ones(4, 3)
moved = torch.ones(4, 3, device="cuda")
""",
        programs=(
            "result = batch.pin_memory()",
            'result = batch; batch.to("cuda", non_blocking=True)',
            'result = batch.to("cuda", non_blocking=True) + moved',
            'result = moved.to("cpu", non_blocking=True)',
            "result = moved.pin_memory()",
            "result = batch.pin_memory() + moved",
        ),
        result="result",
        on_wrong="A late copy has its device at once, and a pinned tensor is on the CPU. Which line keeps no copy?",
    ),
    "b": Exercise(
        parameters=("table", "model", "criterion", "optimizer", "target"),
        arguments=one_step_arguments,
        reference=one_step_reference,
        on_error="Print requires_grad of the copy: it was made under no_grad. Which later pass needs its own copy?",
        on_wrong_device="Leave the model on the GPU, and compute the loss there: a copy of the table goes to it.",
        on_wrong_numbers="The loss differs from the CPU's. Did the step change the table, and is your copy newer?",
        result_on=0,
    ),
}
