"""The exercises of notebooks/04-invisible-tensors.ipynb; their solutions stand there, folded."""

from typing import Any

import torch
from torch import nn

from lessons.exercises import Exercise, Prediction, RefusedError
from lessons.exercises.staying import never_fetched


class Waves(nn.Module):
    """A model that adds up its input times each of several tables, which are rows of one buffer."""

    def __init__(self, tables: list[torch.Tensor]) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(8)
        self.tables = nn.Buffer(torch.stack(tables))

    def forward(self, x: Any) -> Any:
        x = self.norm(x)
        return sum(x * table for table in self.tables)


def tables(_: list[Any]) -> tuple[Any, ...]:
    """Return three tables on the CPU."""
    return ([torch.randn(8, generator=torch.Generator().manual_seed(number)) for number in range(3)],)


def moved_and_called(model: Any, devices: list[Any]) -> Any:
    """Move a model and call it; refuse one whose tables do not move with it, or which does not use what moved."""
    if not isinstance(model, nn.Module):
        raise RefusedError(f"waves has to return a model, and returned {type(model).__name__!r}.")
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if any(_holds(parameter, table) for parameter in trained for table in tables([])[0]):
        raise RefusedError("A table is a parameter here, so an optimizer would train it.")
    model.to(devices[0])
    x = never_fetched(torch.randn(16, 8, generator=torch.Generator().manual_seed(3)).to(devices[0]))
    result = model(x)
    kept = [*model.buffers(), *(parameter for parameter in model.parameters() if not parameter.requires_grad)]
    moved = [tensor for tensor in kept if any(_holds(tensor, table) for table in tables([])[0])]
    if not all(any(_holds(tensor, table) for tensor in moved) for table in tables([])[0]):
        raise RefusedError("A table is in none of the model's registers, so no move would find it.")
    with torch.no_grad():
        before = result
        for tensor in moved:
            tensor.zero_()
            after = model(x)
            if torch.equal(before, after):
                raise RefusedError("The model does not compute with its buffers: it keeps the tables elsewhere, too.")
            before = after
    return result


def _holds(tensor: torch.Tensor, table: torch.Tensor) -> bool:
    """Tell whether a table is this tensor, or a part of it: a row, a column, or one of several behind each other."""
    values = tensor.detach().cpu()
    if values.numel() % table.numel():
        return False
    columns = list(values.T) if values.dim() == 2 else []
    return any(torch.equal(line, table) for line in [*values.reshape(-1, *table.shape), *columns])


EXERCISES = {
    "a": Prediction(
        setup="""
import torch
from torch import nn

model, table = nn.Linear(8, 3), torch.zeros(8)
""",
        programs=(
            'model.table = table; model.to("cuda"); result = model.table',
            'model.table = nn.Buffer(table); model.to("cuda"); result = model.table',
            'model.to("cuda"); model.table = nn.Buffer(table); result = model.table',
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
        parameters=("tables",),
        arguments=tables,
        reference=Waves,
        on_error=(
            "After a move, compare the device of a buffer with that of the same table in the list.",
            "The list still holds the tensors of before the move.",
            "Do without the list: read each buffer by its name, or make one buffer of all tables.",
        ),
        on_wrong_numbers=(
            "The sum differs from the CPU's: use each table once, and nothing else.",
            "Which buffers has the model beside the tables? Print the names in named_buffers().",
        ),
        on_wrong_device="Return what the model computes where it is.",
        result_on=0,
        use=moved_and_called,
    ),
}
