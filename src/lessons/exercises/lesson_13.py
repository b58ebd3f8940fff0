"""The exercises of notebooks/13-async-transfers.ipynb; their solutions stand there, folded."""

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import torch
from torch import nn

from lessons.exercises import Exercise, Prediction, RefusedError
from lessons.exercises.staying import never_elsewhere
from lessons.late import late_copies

WAITS = "called a synchronizing CUDA operation"
_set_mode = torch.cuda.set_sync_debug_mode  # while an answer runs, it is refused


class Batches:
    """Four batches on the CPU; while somebody iterates over them, no line may wait for the GPU."""

    def __init__(self, is_watched: bool) -> None:
        self._batches = torch.randn(16, 3).split(4)
        self._is_watched = is_watched

    def __len__(self) -> int:
        return len(self._batches)

    def __iter__(self) -> Iterator[torch.Tensor]:
        if not self._is_watched:
            yield from self._batches
            return
        _set_mode("error")
        yield from self._batches
        _set_mode("warn")


def predict_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a model on the GPU and batches on the CPU."""
    model = never_elsewhere(nn.Linear(3, 2).to(devices[0]), devices[0])
    return model, Batches(is_watched=devices[0].type == "cuda")


def predict_reference(model: Any, batches: Any) -> Any:
    with torch.no_grad():
        return torch.cat([model(batch) for batch in batches])


@contextlib.contextmanager
def waiting_once() -> Iterator[None]:
    """Let copies to the CPU be late, and refuse to wait on purpose in the loop, or more than once after it."""
    asked_for = []

    def counted(wait: Callable[..., Any]) -> Callable[..., Any]:
        def synchronize(*args: Any, **kwargs: Any) -> Any:
            if torch.cuda.get_sync_debug_mode() == 2:
                raise RefusedError("In the loop the CPU must not wait, on purpose either: wait once, after it.")
            asked_for.append(wait)
            with warnings.catch_warnings():  # a stream's own is counted already
                warnings.simplefilter("ignore")
                return wait(*args, **kwargs)

        return synchronize

    try:
        with warnings.catch_warnings(record=True) as warned, late_copies(), contextlib.ExitStack() as stack:
            warnings.simplefilter("always")
            _set_mode("warn")
            for owner in (torch.cuda, torch.cuda.Event, torch.cuda.Stream):
                stack.enter_context(mock.patch.object(owner, "synchronize", counted(owner.synchronize)))
            stack.enter_context(mock.patch.object(torch.cuda, "set_sync_debug_mode", refuse_a_change))
            yield
            waits = len(asked_for) + sum(WAITS in str(warning.message) for warning in warned)
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _set_mode("default")
    if waits > 1:
        raise RefusedError(f"The CPU waited {waits} times outside the loop. Once is enough, after it.")


def refuse_a_change(debug_mode: Any) -> None:
    """Stand for torch.cuda.set_sync_debug_mode: without the mode, every wait would pass."""
    raise RefusedError("The mode is set by `batches`. Leave it on, and change the lines that wait.")


EXERCISES = {
    "a": Prediction(
        setup="""
import torch

batch = torch.ones(4, 3)
moved = torch.ones(4, 3, device="cuda")
""",
        programs=(
            "result = batch.pin_memory()",
            'result = batch; batch.to("cuda", non_blocking=True)',
            'result = batch.to("cuda", non_blocking=True) + moved',
            'result = moved.to("cpu", non_blocking=True)',
            "result = moved.pin_memory()",
            "result = batch.pin_memory() + moved",
        ),
        result="result",
        on_wrong=(
            "Ask of each line where the tensor is, and not when its numbers arrive.",
            "A late copy has its device at once. Which line keeps no copy?",
            "Pinned memory is memory of the CPU: a pinned tensor is on the CPU, and only such a tensor can be pinned.",
        ),
        about={
            2: "To which tensor does the name `result` refer? Nobody keeps what `.to` returned.",
            3: "The GPU reads the copy here. It works through its queue in order.",
            4: "Which device did the line ask for? `non_blocking` does not change it.",
        },
    ),
    "b": Exercise(
        parameters=("model", "batches"),
        arguments=predict_arguments,
        reference=predict_reference,
        on_error=(
            "Which copy in the line above makes the CPU wait? Compare it with the list of lines that wait.",
            "A copy to the GPU need not wait, because the GPU works in order: non_blocking=True.",
            "Keep the predictions on the GPU in the loop. After it, bring them to the CPU by one copy that waits.",
        ),
        on_wrong_numbers=(
            "Who reads the copies, and has anybody waited for them?",
            "A copy to the CPU arrives when the CPU waits. Wait after the loop, and before you read.",
            "Call torch.cuda.synchronize() before torch.cat, or torch.cat first and then .cpu().",
        ),
        on_wrong_device="Return the predictions on the CPU: one copy for all of them, after the loop.",
        result_on="cpu",
        around=waiting_once,
    ),
}
