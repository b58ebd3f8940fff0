"""Is an answer right, and what is said if it is not: PyTorch's own message with the reader's line, or what differs."""

import contextlib
import inspect
import linecache
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from lessons import gpus
from lessons.exercises.kinds import Exercise, Prediction, RefusedError, each

# Wide enough for TF32, which real GPUs may use: 10 bits of mantissa.
TOLERANCE = {"rtol": 1e-2, "atol": 1e-3}


@dataclass(frozen=True)
class Mistake:
    """What is wrong with an answer: what is said of it at once, and the hints that a reader can ask for."""

    said: str
    hints: tuple[str, ...]


def mistake_in_prediction(prediction: Prediction, answer: list[str]) -> Mistake | None:
    """Return which parts of a prediction are wrong, and never what is right; None if nothing is."""
    parts = [" ".join(part.lower().split()) for part in answer]
    if all(part in ("", "?") for part in parts):
        return Mistake('Write your prediction in place of each "?".', each(prediction.on_wrong))
    with _as_if_alone():
        outcome = prediction.outcome()
    if len(parts) != len(outcome):
        return Mistake(
            f"There are {len(outcome)} to predict, and you predicted {len(parts)}.", each(prediction.on_wrong)
        )
    meant = ["cuda:0" if part == "cuda" else part for part in parts]
    wrong = [number for number, (one, other) in enumerate(zip(meant, outcome, strict=True), 1) if one != other]
    if not wrong:
        return None
    told = [f"  {number}: not {parts[number - 1].strip('?') or 'predicted yet'}" for number in wrong]
    hints = each(prediction.about.get(wrong[0], ())) + each(prediction.on_wrong)
    return Mistake("\n".join(["Not right yet.", *told]), hints)


def mistake_in_function(exercise: Exercise, function: Callable[..., Any]) -> Mistake | None:
    """Call a function on the lesson's GPUs, and compare its result with the CPU's; return what is wrong, or None."""
    with exercise.inside():
        return _mistake(exercise, function)


@contextlib.contextmanager
def _as_if_alone() -> Iterator[None]:
    """Set the reader's default device and random numbers aside, and bring them back afterwards."""
    import torch  # here, so that `import lessons` stays light

    with torch.device("cpu"), torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        yield


def _mistake(exercise: Exercise, function: Callable[..., Any]) -> Mistake | None:
    import torch

    def arguments(devices: list[Any]) -> tuple[Any, ...]:
        with _as_if_alone():
            return exercise.arguments(devices)

    devices = gpus.devices()
    with torch.device("cpu"):
        cpus = [torch.device("cpu")] * len(devices)
        expected = exercise.use(exercise.reference(*arguments(cpus)), cpus)
    try:
        given = arguments(devices)
        with exercise.around():
            result = function(*given)
        result = exercise.use(result, devices)
        return _difference(exercise, result, expected, devices)
    except (Exception, SystemExit) as error:  # whatever a reader wrote, the answer is a sentence
        said = _failure(error, _file(function))
        # With them goes an iterator of workers: found as garbage later, it waits for them for five seconds.
        traceback.clear_frames(error.__traceback__)
        return Mistake(said, each(exercise.on_error))


def _failure(error: BaseException, file: str) -> str:
    """Return an error as Python shows it, below the reader's line; of an exercise's own refusal, the sentence alone."""
    lines = [line for line in str(error).splitlines() if line.strip()] or ["(no message)"]
    quoted = lines[0].startswith("Caught ")  # by another thread or process: the last line is what was raised there
    message = " ".join(line.strip() for line in lines[:2]) if lines[0].endswith(":") else lines[0]
    begin, said = "This fails:", lines[-1] if quoted else f"{type(error).__name__}: {message}"
    if isinstance(error, RefusedError):
        begin, said = "The exercise does not allow this:", said.partition(": ")[2]
    return "\n".join([f"Not right yet. {begin}", *_own_line(error.__traceback__, file), said])


def _file(function: Callable[..., Any]) -> str:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return getattr(code, "co_filename", "")


def _own_line(frames: TracebackType | None, file: str) -> list[str]:
    """Return the last of the reader's lines that an error came through, as a list; an empty one if it has no text."""
    numbers = [number for frame, number in traceback.walk_tb(frames) if frame.f_code.co_filename == file]
    text = linecache.getline(file, numbers[-1]).strip() if numbers else ""
    return [f"    {text}"] if text else []


def _difference(exercise: Exercise, result: Any, expected: Any, devices: list[Any]) -> Mistake | None:
    import torch

    def differs(mine: str, right: str, hints: tuple[str, ...]) -> Mistake:
        return Mistake(f"Not right yet.\n  yours:    {mine}\n  expected: {right}", hints)

    if not isinstance(result, torch.Tensor):
        return differs(type(result).__name__, "a tensor", ())
    if exercise.result_on is not None:
        place = devices[exercise.result_on] if isinstance(exercise.result_on, int) else torch.device(exercise.result_on)
        if result.device != place:
            return differs(f"on {result.device}", f"on {place}", each(exercise.on_wrong_device))
    numbers = each(exercise.on_wrong_numbers)
    if result.shape != expected.shape:
        return differs(
            f"shape {tuple(result.shape)}", f"shape {tuple(expected.shape)}", each(exercise.on_wrong_numbers)
        )
    if expected.requires_grad and not result.requires_grad:
        return differs("no gradient", "a gradient, which training needs", ("Use neither detach nor torch.no_grad.",))
    mine, right = result.detach().cpu().double(), expected.detach().double()
    wrong = ~torch.isclose(mine, right, **TOLERANCE)
    if not wrong.any():
        return None
    at = tuple(wrong.nonzero()[0].tolist())
    where = f"{list(at)} is " if at else ""
    return differs(f"{where}{mine[at].item():.3g}", f"{where}{right[at].item():.3g}", numbers)
