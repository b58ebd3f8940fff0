"""The exercises of notebooks/05-born-on-cpu.ipynb; their solutions stand there, folded."""

from typing import Any

import torch

from lessons.exercises import Exercise, Prediction
from lessons.exercises.staying import never_fetched


def decay_mask_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a query of 2 texts, 3 heads, 6 words and 4 features, and a decay for each head, all on the GPU."""
    decay = torch.tensor([0.5, 0.75, 0.9]).to(devices[0])
    view = decay.view
    decay.view = lambda *shape: never_fetched(view(*shape))
    return torch.randn(2, 3, 6, 4).to(devices[0]), never_fetched(decay)


def decay_mask_reference(query: Any, decay: Any) -> Any:
    steps = torch.arange(query.shape[-2])
    distance = steps.unsqueeze(1) - steps
    return decay.view(-1, 1, 1) ** distance * torch.ones(distance.shape).tril()


EXERCISES = {
    "a": Prediction(
        setup="""
import torch

x = torch.ones(3, device="cuda")
""",
        programs=(
            "result = torch.zeros(len(x))",
            "result = torch.tensor(x.tolist())",
            "result = torch.arange(3) + x",
            "result = torch.tensor([x[0], x[1]])",
            "result = torch.stack([x[0], x[1]])",
            "result = torch.as_tensor(x).new_ones(2)",
        ),
        result="result",
        on_wrong=(
            "What does the call get: numbers, a list, or a tensor?",
            "Numbers and lists have no device, whatever stands in the list. A tensor has one.",
            "What is created from numbers or a list is on the CPU; what is made of a tensor is where that tensor is.",
        ),
    ),
    "b": Exercise(
        parameters=("query", "decay"),
        arguments=decay_mask_arguments,
        reference=decay_mask_reference,
        on_error=(
            "Which tensors does this function create, and which does it compute from others?",
            "It creates two, each from numbers alone.",
            "Make each of the two where query is.",
        ),
        on_wrong_device="Leave the mask where query is: move nothing to the CPU.",
        on_wrong_numbers="The mask differs from the CPU's: keep its numbers, on another device.",
        result_on=0,
    ),
}
