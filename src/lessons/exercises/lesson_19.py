"""The exercises of notebooks/19-catch-it-before-the-gpu.ipynb; their solutions stand there, folded."""

from typing import Any

import torch
from torch import nn

from lessons.exercises import Exercise
from lessons.exercises.staying import never_elsewhere


def step_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """A model on the GPU; a loss with class weights and a batch on the CPU."""
    return (
        never_elsewhere(nn.Linear(4, 3).to(devices[0]), devices[0]),
        never_elsewhere(nn.CrossEntropyLoss(torch.tensor([1.0, 3.0, 9.0])), devices[0]),
        torch.randn(8, 4),
        torch.randint(3, (8,)),
    )


def step_reference(model: Any, criterion: Any, x: Any, y: Any) -> Any:
    criterion(model(x), y).backward()
    return model.weight.grad


def smoothed_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """A model and a signal on the GPU."""
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
        raise RuntimeError("the signal has lost its gradient on the way.")
    nodes = [inputs[0].grad_fn]
    while nodes:
        node = nodes.pop()
        if node is not None:
            if "ToCopy" in node.name():
                raise RuntimeError("the signal was copied to another device: leave it where it is.")
            nodes += [following for following, _ in node.next_functions]


EXERCISES = {
    "a": Exercise(
        parameters=("model", "criterion", "x", "y"),
        arguments=step_arguments,
        reference=step_reference,
        on_error="The model is on the GPU, and x comes to it. What else meets the model's output there?",
        on_wrong_device="Leave the model where it is: what it meets comes to it.",
        on_wrong_numbers="The gradient differs from the CPU's: the loss keeps its weights, the batch its labels.",
        result_on=0,
    ),
    "b": Exercise(
        parameters=("model", "signal"),
        arguments=smoothed_arguments,
        reference=smoothed_reference,
        on_error="total is where the signal is. Where was count made?",
        on_wrong_device="Leave model and signal on the GPU: the count is made there, too.",
        on_wrong_numbers="Each element is the mean over the windows that cover it: divide by how many do.",
        result_on=0,
    ),
}
