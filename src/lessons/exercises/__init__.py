"""`check`: is a reader's answer to an exercise right?

The exercises are data, a file a notebook: `check("01-a", ...)` reads EXERCISES["a"] of lesson_01.py beside this file,
and `check("p1-3", ...)`, a puzzle of the first practice notebook, EXERCISES["3"] of practice_1.py. An answer is a
function (Exercise) or a prediction (Prediction). Of a wrong one `check` says what is wrong, as PyTorch says it, and
nothing of the solution until a reader asks for a hint.
"""

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from lessons import gpus
from lessons.exercises.judging import mistake_in_function, mistake_in_prediction
from lessons.exercises.kinds import Exercise, Prediction, RefusedError

__all__ = ["Exercise", "Prediction", "RefusedError", "check"]

HOW_TO_ASK = "For a hint, add hint=True to the call of check."
_given: dict[tuple[str, tuple[str, ...]], int] = {}  # how many of a mistake's hints a reader has had


def check(exercise: str, answer: Any, hint: bool = False) -> None:
    """Judge an answer and print `passed`, or what is wrong with it; never raise.

    A function is called on the lesson's GPUs, and its result is compared with the CPU's. A prediction is compared with
    what the programs on the page really do.

    Args:
        exercise: its name on the page, such as "01-a".
        answer: the reader's function; or the prediction, a string or a tuple of strings.
        hint: whether to give a hint too, if the answer is not right; the next time, the next one.

    Example:
        >>> check("01-b", accuracy)
        passed
    """
    misuse = _misuse(exercise, answer)
    if misuse:
        print(misuse)
        return
    asked = _find(exercise)
    if isinstance(asked, Prediction):
        mistake = mistake_in_prediction(asked, _parts(answer))
    else:
        mistake = mistake_in_function(asked, answer)
    if mistake is None:
        print("passed")
        return
    print(mistake.said)
    if not mistake.hints:
        return
    print(_next_hint(exercise, mistake.hints) if hint else HOW_TO_ASK)


def _next_hint(exercise: str, hints: tuple[str, ...]) -> str:
    number = min(_given.get((exercise, hints), 0) + 1, len(hints))
    _given[exercise, hints] = number
    name = f"Hint {number} of {len(hints)}" if len(hints) > 1 else "Hint"
    return f"{name}: {hints[number - 1]}"


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
    notebook, _, exercise = str(name).partition("-")
    file = f"practice_{notebook[1:]}" if notebook.startswith("p") else f"lesson_{notebook}"
    try:
        exercises: dict[str, Exercise | Prediction] = importlib.import_module(f"{__name__}.{file}").EXERCISES
    except ModuleNotFoundError:
        return None
    return exercises.get(exercise)


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
