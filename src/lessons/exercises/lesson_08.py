"""The exercises of notebooks/08-find-the-culprit.ipynb; their solutions stand there, folded."""

from typing import Any

import torch
from torch import nn

from lessons.exercises import Exercise, Prediction
from lessons.exercises.staying import never_elsewhere, never_fetched


def places_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return an embedding of four places, and a mask of the patches that are there, both on the GPU."""
    seen = torch.tensor([1, 1, 0, 1, 0, 1, 1, 1]) > 0
    return never_elsewhere(nn.Embedding(4, 6).to(devices[0]), devices[0]), never_fetched(seen.to(devices[0]))


def places_reference(embedding: Any, seen: Any) -> Any:
    bins = torch.arange(8) // 2
    return embedding(torch.where(seen, bins, 0))


EXERCISES = {
    "a": Prediction(
        setup="""
import torch

scores = torch.ones(3, 4, device="cuda")
""",
        programs=(
            "result = torch.zeros(3); result[0] = scores[0].mean()",
            "result = torch.zeros(3); result += scores.mean(dim=1)",
            "result = torch.stack([row.mean() for row in scores])",
            "result = torch.tensor([row.mean() for row in scores])",
            "result = torch.arange(3); result = result.to(scores.device)",
            "result = torch.arange(3); result.to(scores.device)",
        ),
        result="result",
        on_wrong=(
            "For each line: which tensor is created on the CPU, and may the operation fetch from another device?",
            "Numbers and lists have no device: what is created from them is on the CPU.",
            "What is written into stays where it is. A slice fetches values, += does not. A tensor's .to() is a copy.",
        ),
    ),
    "b": Exercise(
        parameters=("embedding", "seen"),
        arguments=places_arguments,
        reference=places_reference,
        on_error=(
            "Which tensors stay on the CPU? There are two: fix one, then run it again.",
            "One is an argument of the first line that fails. The other one is written into.",
            "Create both where seen is.",
        ),
        on_wrong_device="Leave embedding and seen where they are, and create the other tensors there.",
        on_wrong_numbers="The places differ from the CPU's: change where tensors are created, and nothing else.",
        result_on=0,
    ),
}
