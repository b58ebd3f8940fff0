"""The exercises of notebooks/17-data-parallel.ipynb; their solutions stand there, folded."""

from typing import Any

import torch
from torch import nn

from lessons.exercises import Exercise, Prediction, RefusedError


def features_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return two stages and a batch of handwritten digits, all on the CPU."""
    stages, whole = [nn.Linear(64, 8), nn.Linear(8, 4)], 16

    def refuse(module: nn.Module, inputs: tuple[Any, ...]) -> None:
        if len(set(devices)) > 1 and len(inputs[0]) == whole:
            raise RefusedError(f"The whole batch came to {inputs[0].device}. Each GPU has to get a half of it.")

    stages[0].register_forward_pre_hook(refuse)
    return stages, torch.randn(whole, 64)


def features_reference(stages: Any, digits: Any) -> Any:
    for stage in stages:
        digits = stage(digits)
    return digits


EXERCISES = {
    "a": Prediction(
        setup="""
import torch
from torch import nn

layer = nn.Linear(4, 1).to("cuda:0")
model = nn.DataParallel(layer, device_ids=[0, 1])
x = torch.randn(16, 4)
""",
        programs=(
            'result = model(x.to("cuda:1"))',
            "result = model(x[0])",
            "result = model(x[:1])",
            "result = model(x) - torch.ones(16, 1)",
            'layer.to("cuda:1"); result = model(x)',
            "result = nn.DataParallel(layer, device_ids=[0, 1], output_device=1)(x)",
        ),
        result="result",
        on_wrong="For each line: is all of layer on cuda:0? What is cut along dimension 0? Where is the output joined?",
    ),
    "b": Exercise(
        parameters=("stages", "digits"),
        arguments=features_arguments,
        reference=features_reference,
        on_error="A replica has a copy of each stage that is registered. Whose stages are in the list?",
        on_wrong_numbers="The output differs from the CPU's: call all stages, each once, in their order.",
        on_wrong_device="The output is on device_ids[0] unless you name an output_device.",
        result_on=0,
    ),
}
