"""The exercises of notebooks/11-device-agnostic-code.ipynb; their solutions stand there, folded."""

from typing import Any

import torch

from lessons.exercises import Exercise, Prediction
from lessons.exercises.staying import never_fetched


def neighbours_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return pairs of points and indices on the CPU, on the GPU, on the CPU: "all but the first" is no answer."""

    def pair(place: Any) -> tuple[Any, Any]:
        points, index = torch.randn(2, 6, 3), torch.randint(6, (2, 6, 4))
        return never_fetched(points.to(place)), never_fetched(index.to(place))

    return ([pair(place) for place in (torch.device("cpu"), devices[0], torch.device("cpu"))],)


def neighbours_reference(clouds: Any) -> Any:
    return torch.cat(
        [cloud[rows.flatten()] for points, index in clouds for cloud, rows in zip(points, index, strict=True)]
    )


EXERCISES = {
    "a": Prediction(
        setup="""
import numpy as np
import torch

array = np.ones(2, dtype="float32")
cpu = torch.ones(2)
gpu = torch.ones(2, device="cuda")
""",
        programs=(
            "result = gpu.new_tensor([1.0, 2.0])",
            "result = torch.tensor([1.0, 2.0]) + gpu",
            'with torch.device("cuda"): result = torch.from_numpy(array)',
            'with torch.device("cuda"): result = torch.as_tensor(array)',
            'with torch.device("cuda"): result = torch.zeros_like(cpu)',
            'with torch.device("cuda"): result = torch.zeros(2) + cpu',
        ),
        result="result",
        on_wrong=(
            "For each line: does the call follow a tensor, the default device or the memory of an array?",
            "x.new_tensor and zeros_like follow a tensor. torch.tensor, torch.zeros and as_tensor follow the default.",
            "Without a default device, a new tensor is on the CPU. With one, the tensors that are there stay.",
        ),
    ),
    "b": Exercise(
        parameters=("clouds",),
        arguments=neighbours_arguments,
        reference=neighbours_reference,
        on_error=(
            "The first pair is on the CPU. What in the loop knows where its own pair is?",
            "index and first meet in one line, so first has to be created where index is.",
            "Write index.device where the helper says cuda.",
        ),
        on_wrong_numbers="Keep the rows of all pairs, in their order, and bring each result to the CPU.",
    ),
}
