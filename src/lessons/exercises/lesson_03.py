"""The exercises of notebooks/03-unmoved-model.ipynb; their solutions stand there, folded."""

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from lessons.exercises import Exercise, Prediction
from lessons.exercises.staying import never_elsewhere


def series_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return an LSTM and a head on the GPU; a batch of rising series and their labels on the CPU."""
    lstm, head = nn.LSTM(3, 8, batch_first=True), nn.Linear(8, 2)
    series = torch.randn(16, 6, 3) + torch.linspace(-1, 1, 6)[:, None]
    with torch.no_grad():  # large weights, halves that differ: what a state does has to be seen in the loss
        for parameter in lstm.parameters():
            parameter.mul_(4)
    lstm, head = (never_elsewhere(module.to(devices[0]), devices[0]) for module in (lstm, head))
    return lstm, head, series, torch.randint(2, (16,))


def series_reference(lstm: Any, head: Any, series: Any, label: Any) -> Any:
    return functional.cross_entropy(head(lstm(series)[0][:, -1]), label)


EXERCISES = {
    "a": Prediction(
        setup="""
import copy
import torch
from torch import nn

layer, x = nn.Linear(3, 1), torch.ones(4, 3)
""",
        programs=(
            'layer.to("cuda"); result = layer.weight',
            'x.to("cuda"); result = x',
            'layer.to("cuda"); result = layer(x)',
            'layer.to("cuda"); result = layer(x.to("cuda"))',
            'early = copy.deepcopy(layer); layer.to("cuda"); result = early.weight',
            'layer.to("cuda"); saved = layer.cpu(); result = layer.weight',
        ),
        result="result",
        on_wrong=(
            "What does each line move: a module or a tensor?",
            "A module's .to() and .cpu() move that module and nothing else; a tensor's .to() returns a copy.",
            "A deep copy of a module is another module.",
        ),
    ),
    "b": Exercise(
        parameters=("lstm", "head", "series", "label"),
        arguments=series_arguments,
        reference=series_reference,
        on_error=(
            "In the line that fails, print the device of everything: the input, the states, the layer's weight.",
            "Which of them does your function create itself, and where?",
            "Create the states where the LSTM is, or give it none: then it starts from zeros.",
        ),
        on_wrong_device="Compute on the LSTM's device: move the series and the labels there, and the modules nowhere.",
        on_wrong_numbers="The loss differs from the CPU's: the second part starts from the state of the first.",
        result_on=0,
    ),
}
