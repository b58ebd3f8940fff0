"""The exercises of notebooks/09-indexing-and-numpy.ipynb; their solutions stand there, folded."""

from typing import Any

import torch

from lessons.exercises import Exercise, Prediction
from lessons.exercises.staying import never_fetched


def noisy_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return images, noise and a step for each on the GPU; on the CPU, the share of the image that each step keeps."""
    images, noise, t = torch.randn(8, 6, 6), torch.randn(8, 6, 6), torch.randint(100, (8,))
    kept = torch.linspace(0.99, 0.01, 100, dtype=torch.float64)
    images, noise = (never_fetched(tensor.to(devices[0])) for tensor in (images, noise))
    return images, noise, t.to(devices[0]), kept


def noisy_reference(image: Any, noise: Any, t: Any, kept: Any) -> Any:
    share = kept[t].view(-1, 1, 1).to(image)
    return share.sqrt() * image + (1 - share).sqrt() * noise


EXERCISES = {
    "a": Prediction(
        setup="""
import torch

on_gpu, on_cpu = torch.ones(4, device="cuda"), torch.ones(4)
index = torch.tensor([0, 2])
""",
        programs=(
            "result = on_gpu[index]",
            'result = on_cpu[index.to("cuda")]',
            "result = on_gpu.index_select(0, index)",
            'result = on_cpu[index.to("cuda")[0]]',
            "result = on_cpu; result[index] = on_gpu[index]",
            "result = on_cpu; result[0:2] = on_gpu[0:2]",
        ),
        result="result",
        on_wrong=(
            "For each line: which tensor is indexed, and by what: a slice, an index, one number or a function?",
            "Brackets take an index from the CPU, a slice takes values from anywhere, and one number is a number.",
            "A tensor on the CPU takes no index from the GPU, and no values from there that an index spreads.",
        ),
    ),
    "b": Exercise(
        parameters=("image", "noise", "t", "kept"),
        arguments=noisy_arguments,
        reference=noisy_reference,
        on_error=(
            "Which tensor stands in front of the brackets, and on which device? Where is t?",
            "The line moves what the brackets return. What stands in front of the brackets has to be where t is.",
            "Move kept to the device of t, and index it then.",
        ),
        on_wrong_device="Leave the images on the GPU: move the schedule, or what is read from it.",
        on_wrong_numbers="The images differ from the CPU's: move the schedule and leave the computation as it was.",
        result_on=0,
    ),
}
