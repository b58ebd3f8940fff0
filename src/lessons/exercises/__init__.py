"""`check`: is a reader's answer to an exercise right? And what an exercise is made of.

The exercises are data, a file a lesson: `check("01-a", ...)` reads EXERCISES["a"] of lesson_01.py beside this file. An
answer is a function (Exercise) or a prediction (Prediction). `check` tells nothing of the solution until a reader asks
for a hint, because a lesson stores what `check` printed about the code to fix.
"""

import contextlib
import importlib
import inspect
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from lessons import gpus

# Wide enough for TF32, which real GPUs may use: 10 bits of mantissa.
TOLERANCE = {"rtol": 1e-2, "atol": 1e-3}
# What `check` prints of any answer that is not right, whatever the exercise and whatever is wrong.
NOT_YET = "Not right yet. For a hint, add hint=True to the call of check."


@dataclass(frozen=True)
class Exercise:
    """An exercise: how a reader's function is called, what it has to return, and what to say if it does not.

    Args:
        parameters: the names of the function's parameters, in order.
        arguments: called with the lesson's devices; makes the arguments of one call on the CPU and moves only what the
            page says is on a GPU. Random numbers are seeded before it is called.
        reference: a function as the reader's, for tensors that are all on the CPU.
        on_error: the hint where the function raises.
        on_wrong_numbers: the hint where the CPU computes other numbers.
        on_wrong_device: the hint where the result is on another device than `result_on` says.
        result_on: the index of the device that the result has to be on; None for anywhere.
        inside: makes the context that all is called in, such as a group of processes.
    """

    parameters: tuple[str, ...]
    arguments: Callable[[list[Any]], tuple[Any, ...]]
    reference: Callable[..., Any]
    on_error: str
    on_wrong_numbers: str
    on_wrong_device: str = ""
    result_on: int | None = None
    inside: Callable[[], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext


@dataclass(frozen=True)
class Prediction:
    """A prediction: the reader says what programs will do, and the programs are run to compare.

    Args:
        setup: what every program begins with, in Python, as on the page.
        programs: the programs, each run alone after `setup`, as on the page.
        result: the name of the tensor whose device is asked for; "" where only "runs" or "error" is.
        on_wrong: the hint where the reader said something else.
    """

    setup: str
    programs: tuple[str, ...]
    result: str
    on_wrong: str

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


def check(exercise: str, answer: Any, hint: bool = False) -> None:
    """Judge an answer and print `passed`, or one sentence, the same for every exercise; never raise.

    A function is called on the lesson's GPUs, and its result is compared with the CPU's. A prediction is compared with
    what the programs on the page really do.

    Args:
        exercise: its name on the page, such as "01-a".
        answer: the reader's function; or the prediction, a string or a tuple of strings.
        hint: whether to say what is wrong with an answer that is not right.

    Example:
        >>> check("01-b", accuracy)
        passed
    """
    misuse = _misuse(exercise, answer)
    if misuse:
        print(misuse)
        return
    judge = _judge_prediction if isinstance(_find(exercise), Prediction) else _judge
    wrong = judge(_find(exercise), answer)
    print("passed" if wrong is None else wrong if hint else NOT_YET)


def _misuse(name: str, answer: Any) -> str | None:
    """Return what is wrong with the call itself, which is always said; None if the answer can be judged."""
    if not gpus.devices():
        return "Run the first code cell of this page: it starts the GPUs that the exercise runs on."
    exercise = _find(name)
    if exercise is None:
        return f'There is no exercise {name!r}: use the name on the page, such as "01-a".'
    if isinstance(exercise, Prediction):
        if not all(isinstance(part, str) for part in _parts(answer)):
            return 'A prediction is a string, such as "cpu", or a tuple of strings.'
        return None
    if not callable(answer):
        return f"check takes the function itself, by its name and without brackets; it got {type(answer).__name__!r}."
    if not _takes(answer, exercise.parameters):
        return f"Your function has to take these arguments: ({', '.join(exercise.parameters)})."
    return None


def _find(name: str) -> Any:
    """Return the Exercise or Prediction of this name, or None."""
    lesson, _, letter = str(name).partition("-")
    try:
        exercises: dict[str, Exercise | Prediction] = importlib.import_module(f"{__name__}.lesson_{lesson}").EXERCISES
    except ModuleNotFoundError:
        return None
    return exercises.get(letter)


def _takes(function: Callable[..., Any], parameters: tuple[str, ...]) -> bool:
    try:
        inspect.signature(function).bind(*parameters)
    except TypeError:
        return False
    except ValueError:
        pass  # written in C: it tells no signature
    return True


def _parts(answer: Any) -> list[Any]:
    """Return the parts of a prediction; a string is one part."""
    return list(answer) if isinstance(answer, tuple | list) else [answer]


def _judge_prediction(prediction: Prediction, answer: Any) -> str | None:
    with _as_if_alone():
        outcome = prediction.outcome()
    said = [" ".join(part.lower().split()) for part in _parts(answer)]
    said = ["cuda:0" if part == "cuda" else part for part in said]
    right = sum(one == other for one, other in zip(said, outcome, strict=False))
    if said == outcome:
        return None
    counted = f"{right} of {len(outcome)} are right. " if len(outcome) > 1 else ""
    return f"{counted}{prediction.on_wrong}"


@contextlib.contextmanager
def _as_if_alone() -> Iterator[None]:
    """Set the reader's default device and random numbers aside, and bring them back afterwards."""
    import torch  # here, so that `import lessons` stays light

    with torch.device("cpu"), torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        yield


def _judge(exercise: Exercise, function: Callable[..., Any]) -> str | None:
    with exercise.inside():
        return _judge_inside(exercise, function)


def _judge_inside(exercise: Exercise, function: Callable[..., Any]) -> str | None:
    import torch

    def arguments(devices: list[Any]) -> tuple[Any, ...]:
        with _as_if_alone():
            return exercise.arguments(devices)

    devices = gpus.devices()
    with torch.device("cpu"):
        expected = exercise.reference(*arguments([torch.device("cpu")] * len(devices)))
    try:
        return _compare(exercise, function(*arguments(devices)), expected, devices)
    except (Exception, SystemExit) as error:  # whatever a reader wrote, the answer is a hint
        message = (str(error).splitlines() or ["(no message)"])[0]
        # With them goes an iterator of workers: found as garbage later, it waits for them for five seconds.
        traceback.clear_frames(error.__traceback__)
        return f"It raised {type(error).__name__}: {message}\n{exercise.on_error}"


def _compare(exercise: Exercise, result: Any, expected: Any, devices: list[Any]) -> str | None:
    import torch

    if not isinstance(result, torch.Tensor):
        return f"Your function has to return a tensor; it returned {type(result).__name__!r}."
    if exercise.result_on is not None and result.device != devices[exercise.result_on]:
        return f"The result is on {result.device}. {exercise.on_wrong_device}"
    if result.shape != expected.shape:
        return f"The result has shape {tuple(result.shape)}; on the CPU it has {tuple(expected.shape)}."
    if expected.requires_grad and not result.requires_grad:
        return "Training needs the gradient of this result: return it without detach and without torch.no_grad."
    if not torch.allclose(result.detach().cpu().double(), expected.detach().double(), **TOLERANCE):
        return exercise.on_wrong_numbers
    return None
