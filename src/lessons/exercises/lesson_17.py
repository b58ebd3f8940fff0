"""The exercises of notebooks/17-data-parallel.ipynb; their solutions stand there, folded."""

from typing import Any

import torch
from torch import nn

from lessons.exercises import Exercise, Prediction, RefusedError


def predictions_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a layer and three batches of 16 flats, all on the CPU; the halves of a batch have other means."""
    layer, whole = nn.Linear(3, 1), 16

    def refuse(module: nn.Module, inputs: tuple[Any, ...]) -> None:
        if len(set(devices)) > 1 and len(inputs[0]) == whole:
            raise RefusedError(f"The whole batch came to {inputs[0].device}. Each GPU has to get a half of it.")

    layer.register_forward_pre_hook(refuse)
    return layer, [torch.randn(whole, 3) + torch.arange(whole).unsqueeze(1) for _ in range(3)]


def predictions_reference(layer: Any, batches: Any) -> Any:
    means = [torch.cat(batches[:number]).mean(dim=0) for number in range(1, len(batches) + 1)]
    return torch.cat([layer(batch - mean) for batch, mean in zip(batches, means, strict=True)])


EXERCISES = {
    "a": Prediction(
        setup="""
import torch
from torch import nn

layer = nn.Linear(3, 1).to("cuda:0")
model = nn.DataParallel(layer, device_ids=[0, 1])
x = torch.randn(16, 3)
""",
        programs=(
            'result = model(x.to("cuda:1"))',
            "result = model(x[0])",
            "result = model(x[:1])",
            "result = nn.DataParallel(layer, device_ids=[0, 1], dim=1)(x)",
            'layer.to("cuda:1"); result = model(x)',
            "result = nn.DataParallel(layer, device_ids=[0, 1], output_device=1)(x)",
        ),
        result="result",
        on_wrong=(
            "For each line: is all of layer on cuda:0? What is cut along dimension 0? Where is the output joined?",
            "The batch may be anywhere, the layer may not. Along dim, every tensor is cut: it may be its columns.",
            "The output is on device_ids[0], unless output_device says something else. A single part is joined, too.",
        ),
    ),
    "b": Exercise(
        parameters=("layer", "batches"),
        arguments=predictions_arguments,
        reference=predictions_reference,
        on_error=(
            "On which device is total, and on which is x in each of the two replicas?",
            "What a replica does not get is the model's own object. Which tensors does a replica get?",
            "Register what forward needs. And who sees a whole batch: forward, or the loop?",
        ),
        on_wrong_numbers=(
            "The predictions differ from those of one GPU. Of how many flats is the mean that each replica subtracts?",
            "A replica sees half of a batch, and what forward assigns is lost after the call.",
            "Compute the mean in the loop, from the whole batch. How does it get to both replicas?",
        ),
        on_wrong_device="The output is on device_ids[0] unless you name an output_device.",
        result_on=0,
    ),
}
