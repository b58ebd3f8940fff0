"""The exercises of notebooks/11-data-parallel.ipynb; their solutions stand there, folded."""

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from lessons.exercises import Exercise


def loss_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """A model, a batch and its target, all on the CPU."""
    model, whole = nn.Linear(4, 1), 8

    def refuse(module: nn.Module, inputs: tuple[Any, ...]) -> None:
        if len(set(devices)) > 1 and len(inputs[0]) == whole:
            raise RuntimeError(f"the whole batch came to {inputs[0].device}: each GPU has to get a half.")

    model.register_forward_pre_hook(refuse)
    return model, torch.randn(whole, 4), torch.randn(whole, 1)


def loss_reference(model: Any, batch: Any, target: Any) -> Any:
    return functional.mse_loss(model(batch), target)


def masked_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """A layer, a mask of its weight and a batch, all on the CPU."""
    mask = torch.tensor([[1.0, 0.0, 1.0, 1.0], [0.0, 1.0, 1.0, 0.0]])
    return nn.Linear(4, 2, bias=False), mask, torch.randn(8, 4)


def masked_reference(layer: Any, mask: Any, batch: Any) -> Any:
    return functional.linear(batch, layer.weight * mask)


EXERCISES = {
    "a": Exercise(
        parameters=("model", "batch", "target"),
        arguments=loss_arguments,
        reference=loss_reference,
        on_error="First the model: it has to be on device_ids[0]. Then the target: it has to be where the output is.",
        on_wrong_device="The output, and so the loss, is on device_ids[0] unless you name an output_device.",
        on_wrong_numbers="The loss differs from the CPU's: move the model and the target, and leave the rest.",
        result_on=0,
    ),
    "b": Exercise(
        parameters=("layer", "mask", "batch"),
        arguments=masked_arguments,
        reference=masked_reference,
        on_error="Replica 1 met a tensor on cuda:0. Which name in forward is no parameter and no buffer? Register it.",
        on_wrong_numbers="The output differs from the CPU's: keep the mask, and leave the computation as it was.",
        on_wrong_device="The output is on device_ids[0] unless you name an output_device.",
        result_on=0,
    ),
}
