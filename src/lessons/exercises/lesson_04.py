"""The exercises of notebooks/04-invisible-tensors.ipynb; their solutions stand there, folded."""

import warnings
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from lessons.exercises import Exercise
from lessons.exercises.staying import never_elsewhere


def stack_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """A list of two layers on the CPU; a batch and its target on the GPU."""
    layers = [never_elsewhere(layer, devices[0]) for layer in (nn.Linear(4, 8), nn.Linear(8, 1))]
    return layers, torch.randn(16, 4).to(devices[0]), torch.randn(16, 1).to(devices[0])


def stack_reference(layers: Any, batch: Any, target: Any) -> Any:
    model = nn.Sequential(*layers)
    functional.mse_loss(model(batch), target).backward()
    return torch.stack([parameter.grad.norm() for parameter in model.parameters()])


def normed_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """A layer with the older weight_norm, trained on the CPU since its last call, then moved; a batch on the GPU."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # it is deprecated, and still in use
        layer = nn.utils.weight_norm(nn.Linear(8, 3))
    with torch.no_grad():
        layer.weight_g.mul_(2)
    return never_elsewhere(layer, devices[0]).to(devices[0]), torch.randn(16, 8).to(devices[0])


def normed_reference(layer: Any, batch: Any) -> Any:
    return layer(batch)


EXERCISES = {
    "a": Exercise(
        parameters=("layers", "batch", "target"),
        arguments=stack_arguments,
        reference=stack_reference,
        on_error="Which attribute of Stack is a Python list? .to() does not look into it, nor does parameters().",
        on_wrong_numbers="The gradients differ from the CPU's: register the layers, and change nothing else.",
        on_wrong_device="Compute on the GPU: move the model, not the batch.",
        result_on=0,
    ),
    "b": Exercise(
        parameters=("layer", "batch"),
        arguments=normed_arguments,
        reference=normed_reference,
        on_error="layer.weight is computed when the layer is called. Does this function call it?",
        on_wrong_numbers="The output differs from the CPU's: this weight is from before the training. Call the layer.",
        on_wrong_device="Compute on the GPU, where the layer and the batch are.",
        result_on=0,
    ),
}
