"""The exercises of notebooks/22-catch-it-before-the-gpu.ipynb; their solutions stand there, folded."""

from typing import Any

import torch
from torch import nn

from lessons.exercises import Exercise, Prediction, RefusedError
from lessons.exercises.staying import never_elsewhere


def smoothed_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a model and a signal on the GPU."""
    model = never_elsewhere(nn.Linear(16, 2).to(devices[0]), devices[0])
    model.register_forward_pre_hook(_refuse_a_copy)
    return model, torch.randn(16).to(devices[0]).requires_grad_()


def smoothed_reference(model: Any, signal: Any) -> Any:
    windows = signal.unfold(0, 8, 4)
    windows = windows - windows.mean(dim=1, keepdim=True)
    total = sum(nn.functional.pad(window, (4 * i, 8 - 4 * i)) for i, window in enumerate(windows))
    return model(total / torch.tensor([1.0, 2.0, 2.0, 1.0]).repeat_interleave(4))


def _refuse_a_copy(module: nn.Module, inputs: tuple[Any, ...]) -> None:
    """Raise if the signal has been on another device on its way: the numbers would be right as well."""
    if not inputs[0].requires_grad:
        raise RefusedError("The signal has lost its gradient on the way.")
    nodes = [inputs[0].grad_fn]
    while nodes:
        node = nodes.pop()
        if node is not None:
            if "ToCopy" in node.name():
                raise RefusedError("The signal was copied to another device. It has to stay where it is.")
            nodes += [following for following, _ in node.next_functions]


EXERCISES = {
    "a": Prediction(
        setup="""
import torch

flats = torch.ones(4, 3)
rates = torch.ones(3, 1)
""",
        programs=(
            'result = flats.to("cpu") @ rates',
            'result = flats.to("cuda") @ rates',
            'result = flats.to("meta") @ rates',
            'result = flats.to("meta") * rates.T',
            'result = flats.to("cuda").cpu() @ rates',
            'result = flats.to("meta").cpu() @ rates',
        ),
        result="result",
        on_wrong=(
            "For each line: on which device are the flats then?",
            "And which mixes does that device refuse?",
            "A GPU refuses both products. `meta` has no values, and looks only at shapes in a matrix product.",
        ),
    ),
    "b": Exercise(
        parameters=("model", "signal"),
        arguments=smoothed_arguments,
        reference=smoothed_reference,
        on_error=(
            "On which device is each tensor of the line that fails? Print total.device and count.device.",
            "total is where the signal is. Where was count created?",
            "torch.zeros_like(signal) is where the signal is, and so is device=signal.device.",
        ),
        on_wrong_device="Leave the model and the signal on the GPU, and create the count there, too.",
        on_wrong_numbers="Each sample is the mean over the windows that cover it: divide by how many do.",
        result_on=0,
    ),
}
