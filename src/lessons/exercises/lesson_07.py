"""The exercises of notebooks/07-drift-across-iterations.ipynb; their solutions stand there, folded."""

from typing import Any

import torch
from torch import nn

from lessons.exercises import Exercise, Prediction
from lessons.exercises.staying import never_fetched


def confusion_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a classifier of three classes, and two epochs of three batches with their labels, all on the GPU."""

    def on_gpu(tensor: Any) -> Any:
        return never_fetched(tensor.to(devices[0]))

    def epoch() -> Any:
        return [(on_gpu(torch.randn(16, 4)), on_gpu(torch.randint(3, (16,)))) for _ in range(3)]

    return nn.Linear(4, 3).to(devices[0]), [epoch(), epoch()]


def confusion_reference(model: Any, epochs: Any) -> Any:
    kept = []
    for batches in epochs:
        cells = torch.cat([label * 3 + model(batch).argmax(dim=1) for batch, label in batches])
        kept.append(torch.bincount(cells, minlength=9).reshape(3, 3))
    return torch.stack(kept)


EXERCISES = {
    "a": Prediction(
        setup="""
import torch

loss = torch.tensor(0.5, device="cuda")
total = torch.zeros((), device="cuda")
""",
        programs=(
            "total = torch.zeros(()); total += loss",
            "total = torch.zeros(()); total = total + loss",
            "total.zero_(); total += loss",
            "total += loss; total = torch.zeros(())",
            "total = torch.stack([loss.cpu(), loss])",
            "total = torch.zeros_like(loss); total += loss",
        ),
        result="total",
        on_wrong=(
            "For each line: which tensor does the name total mean last, and was it created or only written into?",
            "torch.zeros(()) creates on the CPU. What is created from other tensors is where they are.",
        ),
        about={
            1: "+= writes into the new total.",
            2: "+ writes into nothing: it creates a sum, and a number of shape () on the CPU may join.",
            3: "zero_() writes into the total that is there.",
            4: "Which line uses the last total? Is there one?",
            5: "stack is no arithmetic: a single number on the CPU may not join.",
            6: "Of which tensor are these the zeros like?",
        },
    ),
    "b": Exercise(
        parameters=("model", "epochs"),
        arguments=confusion_arguments,
        reference=confusion_reference,
        on_error=(
            "The first epoch ran. Which line then puts another tensor under the name matrix?",
            "The second matrix is created on the CPU. Where do the counts come from?",
            "Create it like the one before it.",
        ),
        on_wrong_device="Leave the model and the batches there, and make each new matrix where they are.",
        on_wrong_numbers=(
            "Each matrix counts its own epoch. Is a matrix in kept still the one that it was?",
            "zero_() empties the matrix in kept, too.",
            "Each epoch needs a tensor of its own.",
        ),
        result_on=0,
    ),
}
