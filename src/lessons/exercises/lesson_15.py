"""The exercises of notebooks/15-which-gpu.ipynb; their solutions stand there, folded."""

import random
from typing import Any

import torch

from lessons.exercises import Exercise, Prediction
from lessons.exercises.staying import never_fetched


def places(devices: list[Any]) -> list[torch.device]:
    """Return the second GPU, the first and the CPU, then each twice more in any order: no position tells the answer."""
    each = [devices[1], devices[0], torch.device("cpu")]
    shuffled = random.Random().sample  # the reader's own random numbers stay as they are
    return each + shuffled(each * 2, 6)


def attention_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return heads, each with its query, key and value on one device."""

    def head(place: torch.device) -> tuple[Any, ...]:
        return tuple(never_fetched(torch.randn(4, 8).to(place)) for _ in range(3))

    return ([head(place) for place in places(devices)],)


def attention_reference(heads: Any) -> Any:
    later = torch.ones(4, 4).triu(1).bool()
    scores = [(query @ key.T * 0.5).masked_fill(later, -1e9) for query, key, _ in heads]
    return torch.cat([score.softmax(dim=1) @ value for score, (_, _, value) in zip(scores, heads, strict=True)])


EXERCISES = {
    "a": Prediction(
        setup="""
import torch

torch.cuda.set_device(0)
x = torch.ones(3, device="cuda")
""",
        programs=(
            'torch.cuda.set_device(1); result = torch.ones(3, device="cuda")',
            "torch.cuda.set_device(1); result = x + 1",
            'torch.cuda.set_device(1); result = x + torch.ones(3, device="cuda")',
            "torch.cuda.set_device(1); result = x.cuda()",
            'device = torch.device("cuda:1"); result = torch.ones(3).cuda()',
            "with torch.cuda.device(1): result = torch.zeros_like(x)",  # last: it leaves GPU 0 current
        ),
        result="result",
        on_wrong=(
            "Which GPU is current when the tensor is created or moved? A tensor that exists keeps its own.",
            'Only "cuda" and .cuda() ask for the current GPU. x + 1 and zeros_like ask x.',
            "set_device and a block change the current GPU, and torch.device does not. No sum takes two GPUs.",
        ),
    ),
    "b": Exercise(
        parameters=("heads",),
        arguments=attention_arguments,
        reference=attention_reference,
        on_error=(
            "Which two tensors does the loop create, and on which device is each? Where is the query?",
            "Two lines create a tensor and send it to the current GPU. Create it where the query is.",
            "Write device=query.device in both, and leave out .cuda().",
        ),
        on_wrong_numbers="The outputs differ from the CPU's: scale, hide what is later, then softmax, head by head.",
    ),
}
