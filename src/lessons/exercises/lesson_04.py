"""The exercises of notebooks/04-invisible-tensors.ipynb; their solutions stand there, folded."""

from typing import Any

import torch

from lessons.exercises import Exercise, Prediction
from lessons.exercises.staying import never_fetched


def waves_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return three tables on the CPU and a batch on the GPU."""
    tables = [torch.randn(8) for _ in range(3)]
    return tables, never_fetched(torch.randn(16, 8).to(devices[0]))


def waves_reference(tables: Any, x: Any) -> Any:
    return sum(x * table for table in tables)


EXERCISES = {
    "a": Prediction(
        setup="""
import torch
from torch import nn

model, table = nn.Linear(8, 3), torch.zeros(8)
""",
        programs=(
            'model.table = table; model.to("cuda"); result = model.table',
            'model.register_buffer("table", table); model.to("cuda"); result = model.table',
            'model.to("cuda"); model.register_buffer("table", table); result = model.table',
            'model.register_buffer("table", table); model.to("cuda"); result = table',
            'model.tables = [nn.Parameter(table)]; model.to("cuda"); result = model.tables[0]',
            'model.tables = nn.ParameterList([table]); model.to("cuda"); result = model.tables[0]',
        ),
        result="result",
        on_wrong=(
            "Is the tensor registered in the model when the model moves?",
            "A move takes what is registered at that moment, and a list or a plain attribute registers nothing.",
            "A move puts new tensors into the model. A name outside still means the old one.",
        ),
    ),
    "b": Exercise(
        parameters=("tables", "x"),
        arguments=waves_arguments,
        reference=waves_reference,
        on_error=(
            "After the move, compare the device of a buffer with that of the same table in the list.",
            "The list still holds the tensors of before the move.",
            "Do without the list: take the tables from the buffers.",
        ),
        on_wrong_numbers="The sum differs from the CPU's: use each table once, and change nothing else.",
        on_wrong_device="Compute on the GPU: move the tables, not x.",
        result_on=0,
    ),
}
