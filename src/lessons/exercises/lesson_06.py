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
        on_wrong=(
            "Does the line write into a tensor that is there, or does it create one?",
            "What is written into never moves. Only a copy fetches values from another device.",
        ),
        about={
            1: "+= computes. It does not copy.",
            2: "An assignment to a slice copies. It computes nothing.",
            3: "A Python number has no device.",
            4: "Shape () on the CPU: in arithmetic, such a number may join.",
            5: "A single number may join, but what is it here: the values or the destination?",
            6: "Which of the three statements keeps what .to() returns?",
        },
    ),
    "b": Exercise(
        parameters=("norm", "weight", "x"),
        arguments=norm_arguments,
        reference=norm_reference,
        on_error=(
            "Which tensor does the failing line write into, and where is it?",
            "norm.scale stays where it is.",
            "So the weight has to come to it.",
        ),
        on_wrong_device="Leave the norm on the GPU, and bring the weight to it.",
        on_wrong_numbers=(
            "The memory of norm.scale does not hold weight + 1. Write into the tensor that is there.",
            "norm.scale = ... gives the name to another tensor, and norm.to(...) gives the buffer other memory.",
        ),
        result_on=0,
    ),
}
