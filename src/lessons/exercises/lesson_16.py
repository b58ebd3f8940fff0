"""The exercises of notebooks/16-split-device-models.ipynb; their solutions stand there, folded."""

from typing import Any

import torch
from torch import nn

from lessons.exercises import Exercise, Prediction
from lessons.exercises.staying import never_elsewhere


def rewards_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return an embedding, four texts of several lengths and their mask on the first GPU; a head on the second."""
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
    "a": Prediction(
        setup="""
import torch
from torch import nn

x = torch.ones(4, 3, device="cuda:0", requires_grad=True)
layer = nn.Linear(3, 3).to("cuda:1")
""",
        programs=(
            "result = layer(x)",
            'result = layer(x.to("cuda:1"))',
            'result = x + layer(x.to("cuda:1"))',
            "result = x.mean() + torch.tensor(1.0)",
            "result = x.mean() + layer.bias.mean()",
            'layer(x.to("cuda:1")).sum().backward(); result = x.grad',
        ),
        result="result",
        on_wrong=(
            "For each line: on which devices are the tensors that meet in it? .to() moves a copy; x itself stays.",
            "A layer leaves its result where its weights are, and fetches nothing.",
            "In arithmetic, a single number may join from the CPU, and from nowhere else.",
        ),
        about={6: "PyTorch has recorded the .to(). Where must the gradient of x be?"},
    ),
    "b": Exercise(
        parameters=("embedding", "head", "tokens", "mask"),
        arguments=rewards_arguments,
        reference=rewards_reference,
        on_error=(
            "In the line that fails, print the device of every tensor. Two lines fail: fix one, then run again.",
            "A layer computes where its weights are, and gather where its tensor is. What is elsewhere then?",
            "Carry the activation to the head's weight, and the index to the values.",
        ),
        on_wrong_device="Leave the rewards where head is: move what meets its output, and no layer.",
        on_wrong_numbers=(
            "The rewards differ from the CPU's. Is the last place of a text always a word?",
            "Each reward is the value at the last token that the mask keeps.",
        ),
        result_on=1,
    ),
}
