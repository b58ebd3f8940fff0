"""The exercises of notebooks/10-checkpoints.ipynb; their solutions stand there, folded."""

import io
from typing import Any
from unittest.mock import patch

import torch
from torch import nn

from lessons.exercises import Exercise, Prediction
from lessons.exercises.staying import never_elsewhere


def resume_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a file that says cuda:1, written after a step of Adam; a new model on the CPU; data on the GPU."""
    x, y = torch.randn(16, 3), torch.randn(16, 1)
    trained, model = nn.Linear(3, 1).to(devices[0]), nn.Linear(3, 1)
    optimizer = torch.optim.Adam(trained.parameters(), lr=0.1)
    x, y = x.to(devices[0]), y.to(devices[0])
    _step(trained, optimizer, x + 3.0, y)
    generator = torch.Generator().manual_seed(7)
    checkpoint = {
        "model": trained.state_dict(),
        "optimizer": optimizer.state_dict(),
        "shuffle": generator.get_state(),
    }
    file = io.BytesIO()
    with patch("torch.serialization.location_tag", lambda storage: "cuda:1" if storage.is_cuda else "cpu"):
        torch.save(checkpoint, file)
    file.seek(0)
    return file, never_elsewhere(model, devices[0]), x, y


def resume_reference(file: Any, model: Any, x: Any, y: Any) -> Any:
    checkpoint = torch.load(file, map_location="cpu")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    generator = torch.Generator()
    generator.set_state(checkpoint["shuffle"])
    batch = torch.randperm(len(x), generator=generator)[:8]
    _step(model, optimizer, x[batch], y[batch])
    with torch.no_grad():  # the page asks for a number, not for a gradient
        return nn.functional.mse_loss(model(x[batch]), y[batch])


def _step(model: Any, optimizer: Any, x: Any, y: Any) -> None:
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()


EXERCISES = {
    "a": Prediction(
        setup="""
import io

import torch
from torch import nn

trained, model = nn.Linear(3, 1).to("cuda"), nn.Linear(3, 1)
file = io.BytesIO()
torch.save(trained.state_dict(), file)
file.seek(0)
""",
        programs=(
            'result = torch.load(file)["weight"]',
            'result = torch.load(file, map_location={"cuda:1": "cpu"})["weight"]',
            'result = torch.load(file, map_location="cuda:64")["weight"]',
            "model.load_state_dict(torch.load(file)); result = model.weight",
            "model.load_state_dict(torch.load(file), assign=True); result = model.weight",
            'trained.load_state_dict(torch.load(file, map_location="cpu")); result = trained.weight',
        ),
        result="result",
        on_wrong=(
            "For each line: is result a tensor of the file or of the model? Which of the two decides its device?",
            "torch.load obeys the file unless map_location says otherwise; load_state_dict copies unless assign=True.",
            "A dict changes only the names that it lists, and no GPU takes the place of one that is missing.",
        ),
    ),
    "b": Exercise(
        parameters=("file", "model", "x", "y"),
        arguments=resume_arguments,
        reference=resume_reference,
        on_error=(
            "Which entry has to be on the CPU? And where are the weights when the optimizer is loaded?",
            "A generator takes its state from the CPU alone. The averages go where the weights are at that moment.",
            'Load with map_location="cpu", and move the model in the first line.',
        ),
        on_wrong_device="Train where x is: move the model, not the data.",
        on_wrong_numbers="The loss differs from the CPU's: load all three states, step once, return that batch's loss.",
        result_on=0,
    ),
}
