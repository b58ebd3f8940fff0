"""What every exercise refuses: the right numbers, computed by the very reference on the CPU and brought to the GPU."""

from pathlib import Path

import pytest
import torch
from torch import nn

from lessons import check, start
from lessons.exercises import _find

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork.* may lead to deadlocks:DeprecationWarning")

# What accepts it all the same, each with the reason.
ACCEPTED = {
    "06-a": "the code to mend fetches x itself: to refuse that would hide the error that the page shows",
    "08-b": "the code to mend moves the average away: the same",
    "11-b": "the reader writes the module, and may put it on one GPU",
    "12-a": "its processes are on the CPU",
    "12-b": "its processes are on the CPU",
}
NAMES = [
    f"{path.stem[7:]}-{letter}"
    for path in sorted((Path(__file__).parents[2] / "src/lessons/exercises").glob("lesson_*.py"))
    for letter in "ab"
]


def on_cpu(value):
    """The same, fetched to the CPU: modules are moved, as a reader would move them."""
    if isinstance(value, torch.Tensor | nn.Module):
        return value.cpu()
    if isinstance(value, list | tuple):
        return type(value)(map(on_cpu, value))
    if isinstance(value, dict):
        return {key: on_cpu(one) for key, one in value.items()}
    return value


@pytest.mark.parametrize("name", NAMES)
def test_all_on_the_cpu_and_the_result_brought_to_the_gpu_is_refused(name, machine, capsys):
    start(gpus=2)
    exercise = _find(name)

    def wrong(*arguments):
        result = exercise.reference(*on_cpu(arguments))
        return result.to(f"cuda:{exercise.result_on or 0}")

    capsys.readouterr()
    check(name, wrong)
    assert (capsys.readouterr().out == "passed\n") == (name in ACCEPTED)
