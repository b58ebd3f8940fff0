"""The exercises of notebooks/06-in-place-ops.ipynb; their solutions stand there, folded."""

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from lessons.exercises import Exercise, Prediction


class ScaledNorm(nn.Module):
    """A layer that divides by the root mean square and multiplies by a buffer, written when weights are loaded.

    It reads the memory that it knew before, as a captured CUDA graph does: a new tensor named `scale` changes nothing.
    """

    def __init__(self, size: int, device: Any) -> None:
        super().__init__()
        self.register_buffer("scale", torch.zeros(size, device=device))
        self.memory = self.scale.detach()

    def forward(self, x: Any) -> Any:
        return functional.rms_norm(x, self.memory.shape, self.memory)


def norm_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a norm and its input on the GPU; the weight that was loaded for it on the CPU."""
    return ScaledNorm(8, devices[0]), torch.randn(8), torch.randn(4, 8).to(devices[0])


def norm_reference(norm: Any, weight: Any, x: Any) -> Any:
    torch.add(weight, 1.0, out=norm.scale)
    return norm(x)


EXERCISES = {
    "a": Prediction(
        setup="""
import torch

total = torch.zeros(3)
x = torch.ones(3, device="cuda")
""",
        programs=(
            "result = total; result += x",
            "result = total; result[0:3] = x",
            "result = 0; result += x",
            "result = x; result += torch.tensor(2.0)",
            "result = torch.tensor(2.0); result += x.sum()",
            'result = total; total.to("cuda"); result += 1',
        ),
        result="result",
        on_wrong="What is written into never moves. Only a copy fetches values. A Python number has no device.",
    ),
    "b": Exercise(
        parameters=("norm", "weight", "x"),
        arguments=norm_arguments,
        reference=norm_reference,
        on_error="The tensor that is written into, norm.scale, stays where it is. So the weight has to come to it.",
        on_wrong_device="Leave the norm on the GPU, and bring the weight to it.",
        on_wrong_numbers="The memory of norm.scale does not hold weight + 1. Write into the tensor that is there.",
        result_on=0,
    ),
}
