"""What an exercise is made of: a function to repair (Exercise) or a prediction (Prediction), and how it refuses.

A hint is a sentence, or up to three of them, from a question to what is to be done. Who asks again about the same
mistake gets the next.
"""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Hints = str | tuple[str, ...]


class RefusedError(Exception):
    """What an answer does is not allowed by its exercise, in a whole sentence. It is never an error of PyTorch's."""


@dataclass(frozen=True)
class Exercise:
    """An exercise: how a reader's function is called, what it has to return, and what to say if it does not.

    Args:
        parameters: the names of the function's parameters, in order.
        arguments: called with the lesson's devices; makes the arguments of one call on the CPU and moves only what the
            page says is on a GPU. Random numbers are seeded before it is called.
        reference: a function as the reader's, for tensors that are all on the CPU.
        on_error: the hints where the function raises.
        on_wrong_numbers: the hints where the CPU computes other numbers.
        on_wrong_device: the hints where the result is on another device than `result_on` says.
        result_on: the index of the device that the result has to be on, or "cpu"; None for anywhere.
        use: called with what the function returned and with the lesson's devices; returns the tensor to compare. Here a
            model is moved and called.
        inside: makes the context that all is called in, such as a group of processes.
        around: makes the context that the reader's function alone is called in; it may raise RefusedError at its end.
    """

    parameters: tuple[str, ...]
    arguments: Callable[[list[Any]], tuple[Any, ...]]
    reference: Callable[..., Any]
    on_error: Hints
    on_wrong_numbers: Hints
    on_wrong_device: Hints = ""
    result_on: int | str | None = None
    use: Callable[[Any, list[Any]], Any] = lambda returned, _: returned
    inside: Callable[[], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext
    around: Callable[[], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext


@dataclass(frozen=True)
class Prediction:
    """A prediction: the reader says what programs will do, and the programs are run to compare.

    Args:
        setup: what every program begins with, in Python, as on the page.
        programs: the programs, each run alone after `setup`, as on the page.
        result: the name of the tensor whose device is asked for; "" where only "runs" or "error" is.
        on_wrong: the hints where the reader said something else.
        about: hints for one program alone, by its number on the page; they come before `on_wrong`.
    """

    setup: str
    programs: tuple[str, ...]
    result: str
    on_wrong: Hints
    about: Mapping[int, Hints] = field(default_factory=dict)

    def outcome(self) -> list[str]:
        """Run the programs; return the device of each result, or "runs", or "error" if PyTorch refuses."""
        found = []
        for program in self.programs:
            names: dict[str, Any] = {}
            try:
                exec(f"{self.setup}\n{program}", names)
                found.append(str(names[self.result].device) if self.result else "runs")
            except RuntimeError:
                found.append("error")
        return found


def each(hints: Hints) -> tuple[str, ...]:
    """Return hints one by one; one sentence is one hint, and an empty one counts as no hint."""
    return tuple(hint for hint in ((hints,) if isinstance(hints, str) else hints) if hint)
