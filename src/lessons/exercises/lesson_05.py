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
            "result = torch.zeros_like(x)",
            "result = torch.arange(3) + x",
            "result = torch.tensor([x[0], x[1]])",
            "result = torch.stack([x[0], x[1]])",
            "result = torch.nn.Linear(3, 1)(x)",
        ),
        result="result",
        on_wrong="What creates a tensor or a layer puts it on the CPU; what computes stays where its tensors are.",
    ),
    "b": Exercise(
        parameters=("query", "decay"),
        arguments=decay_mask_arguments,
        reference=decay_mask_reference,
        on_error="Two tensors are made in this function: make each where query is.",
        on_wrong_device="Leave the mask where query is: move nothing to the CPU.",
        on_wrong_numbers="The mask differs from the CPU's: keep its numbers, on another device.",
        result_on=0,
    ),
}
