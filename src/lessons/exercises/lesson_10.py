"""The exercises of notebooks/10-split-device-models.ipynb; their solutions stand there, folded."""

from typing import Any

import torch
from torch import nn

from lessons.exercises import Exercise
from lessons.exercises.staying import never_elsewhere


def forward_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """A layer on each GPU; a batch on the CPU."""
    first, second = nn.Linear(4, 8).to(devices[0]), nn.Linear(8, 2).to(devices[1])
    return never_elsewhere(first, devices[0]), never_elsewhere(second, devices[1]), torch.randn(16, 4)


def forward_reference(first: Any, second: Any, batch: Any) -> Any:
    return second(first(batch).relu())


def rewards_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """An embedding, four texts of several lengths and their mask on the first GPU; a head on the second."""
    lengths = torch.tensor([6, 2, 4, 5])
    mask = (torch.arange(6) < lengths.unsqueeze(1)).long()
    tokens = torch.randint(10, (4, 6))
    return (
        never_elsewhere(nn.Embedding(10, 8).to(devices[0]), devices[0]),
        never_elsewhere(nn.Linear(8, 1).to(devices[1]), devices[1]),
        tokens.to(devices[0]),
        mask.to(devices[0]),
    )


def rewards_reference(embedding: Any, head: Any, tokens: Any, mask: Any) -> Any:
    values = head(embedding(tokens)).squeeze(-1)
    return values.gather(1, mask.sum(dim=1, keepdim=True) - 1).squeeze(1)


EXERCISES = {
    "a": Exercise(
        parameters=("first", "second", "batch"),
        arguments=forward_arguments,
        reference=forward_reference,
        on_error="What goes into a layer has to be where its weights are: move the batch, and then what first returns.",
        on_wrong_device="Leave the output where second is: move what goes in, and no layer.",
        on_wrong_numbers="The output differs from the CPU's: move tensors and leave the computation as it was.",
        result_on=1,
    ),
    "b": Exercise(
        parameters=("embedding", "head", "tokens", "mask"),
        arguments=rewards_arguments,
        reference=rewards_reference,
        on_error="In the line that fails, print the device of every tensor. Two lines fail: mend one, then run again.",
        on_wrong_device="Leave the rewards where head is: move what meets its output, and no layer.",
        on_wrong_numbers="The rewards differ from the CPU's: each is the value at the last token that the mask keeps.",
        result_on=1,
    ),
}
