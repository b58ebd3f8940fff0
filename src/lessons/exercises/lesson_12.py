"""The exercises of notebooks/12-optimizers-and-gradients.ipynb; their solutions stand there, folded."""

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from lessons.exercises import Exercise, Prediction, RefusedError
from lessons.exercises.staying import never_elsewhere


def shared_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a worker and three batches on the GPU; a shared model, its optimizer and an exam on the CPU."""
    worker = never_elsewhere(nn.Linear(3, 2).to(devices[0]), devices[0])
    shared = never_elsewhere(nn.Linear(3, 2), torch.device("cpu"))
    shared.register_forward_pre_hook(refuse_to_learn)
    batches = [(torch.randn(16, 3).to(devices[0]), torch.randn(16, 2).to(devices[0])) for _ in range(3)]
    optimizer = torch.optim.SGD(shared.parameters(), lr=0.5)
    return worker, shared, optimizer, batches, torch.randn(4, 3)


def refuse_to_learn(module: nn.Module, inputs: tuple[Any, ...]) -> None:
    """Raise where the shared model is given a batch: its gradients would be right, and the GPU of no use."""
    if len(inputs[0]) == 16:
        raise RefusedError("The shared model itself computed with a batch. The worker computes the gradients.")


def shared_reference(worker: Any, shared: Any, optimizer: Any, batches: Any, exam: Any) -> Any:
    for x, y in batches:
        worker.load_state_dict(shared.state_dict())
        worker.zero_grad()
        functional.mse_loss(worker(x), y).backward()
        for mine, theirs in zip(worker.parameters(), shared.parameters(), strict=True):
            theirs.grad = mine.grad.clone()
        optimizer.step()
    with torch.no_grad():  # the page asks what the model says, not for a gradient
        return shared(exam)


EXERCISES = {
    "a": Prediction(
        setup="""
import torch
from torch import nn, optim

model = nn.Linear(3, 1)
adam = optim.Adam(model.parameters())

def step():
    x = torch.ones(4, 3).to(model.weight.device)
    model(x).sum().backward()
    adam.step()
    return adam.state[model.weight]["exp_avg"]
""",
        programs=(
            "average = step(); model.cuda()",
            "model.cuda(); average = step()",
            "step(); model.cuda(); average = step()",
            "step(); model.cuda(); adam.load_state_dict(adam.state_dict()); average = step()",
            "step(); adam.load_state_dict(adam.state_dict()); model.cuda(); average = step()",
            "step(); model.cuda(); model.cpu(); average = step()",
        ),
        result="average",
        on_wrong=(
            "Go through the line from left to right, and note after each call where the weight is and where the state.",
            "Where was the weight when the state was created or loaded, and where is it in the last step?",
            "The first step and a reload put the state where the weight is at that moment. A move leaves it there.",
        ),
        about={
            5: "At the moment of the reload, where is the weight? The move comes later.",
            6: "The weight went away and came back. Where is the state all the time?",
        },
    ),
    "b": Exercise(
        parameters=("worker", "shared", "optimizer", "batches", "exam"),
        arguments=shared_arguments,
        reference=shared_reference,
        on_error=(
            "On which device is theirs, and on which is mine.grad?",
            "A gradient has to be where its tensor is. Both models stay where they are.",
            "Give theirs a copy: mine.grad.to(theirs.device).",
        ),
        on_wrong_numbers=(
            "Which batch do the later steps learn from?",
            "A copy does not follow what it was copied from.",
            "Bring the gradient in every round, whether theirs has one or not.",
        ),
    ),
}
