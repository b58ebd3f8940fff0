"""The exercises of notebooks/20-device-map-and-adapters.ipynb; their solutions stand there, folded."""

import math
from typing import Any

import torch

from lessons.exercises import Exercise, Prediction
from lessons.exercises.staying import CopiesAllowed

SHAPE = (4, 6, 8)  # texts, places for words, numbers of a word


def direction_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return two layers' outputs for four texts, each where its layer is, and the texts' lengths with the first."""
    outputs = [torch.randn(SHAPE).to(device) for device in devices[:2]]
    return outputs, torch.tensor([6, 2, 4, 5]).to(devices[0])


def direction_reference(outputs: Any, lengths: Any) -> Any:
    texts = torch.arange(len(lengths))
    return torch.stack([output[texts, lengths - 1] for output in outputs]).mean(dim=0)


def whole_outputs_stay() -> CopiesAllowed:
    """Refuse to bring a whole output to another device, in however many pieces."""
    copied = 0

    def few(tensor: Any, to: Any) -> bool:
        nonlocal copied
        copied += tensor.numel()
        return copied < math.prod(SHAPE)

    return CopiesAllowed(few, "This moves a whole output, or as much. Move only the words that you read.")


EXERCISES = {
    "a": Prediction(
        setup="""
import torch
from accelerate import dispatch_model

split = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3))
split = dispatch_model(split, {"0": 0, "1": 1})
whole = dispatch_model(torch.nn.Linear(3, 3), {"": 1})
x = torch.ones(4, 3)
""",
        programs=(
            "result = split(x)",
            'result = split[1](split[0](x.to("cuda:0")))',
            "result = split[0](x) + split[1](x)",
            "result = split[1](split[0](x)) @ split[1].weight",
            "result = whole(x)",
            "result = split(x.cuda()) + whole.bias",
        ),
        result="result",
        on_wrong="For each call: is there a hook? Only that of the whole model moves the output back to the input.",
    ),
    "b": Exercise(
        parameters=("outputs", "lengths"),
        arguments=direction_arguments,
        reference=direction_reference,
        on_error=(
            "In the line that fails, print the device of every tensor. Two things fail: fix one, then run again.",
            "An index has to be on the CPU or where the tensor is that it reads from.",
            "What was read from two GPUs has to be brought to one before torch.stack.",
        ),
        on_wrong_device="Return the vectors on the device of the last output.",
        on_wrong_numbers="The vectors differ from the CPU's: read each text's last word, then take the mean.",
        result_on=1,
        inside=whole_outputs_stay,
    ),
}
