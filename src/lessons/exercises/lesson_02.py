"""The exercises of notebooks/02-unmoved-batches.ipynb; their solutions stand there, folded."""

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from lessons.exercises import Exercise, Prediction
from lessons.exercises.staying import never_elsewhere


def policy_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a policy on the GPU; a batch on the CPU: a dict of tensors, of a dict and of a list of texts."""
    batch = {
        "observation": {"image": torch.randn(2, 6), "state": torch.randn(2, 4)},
        "action": torch.randn(2, 2),
        "task": ["push the block", "lift the block"],
    }
    return never_elsewhere(nn.Linear(10, 2).to(devices[0]), devices[0]), batch


def policy_reference(policy: Any, batch: Any) -> Any:
    seen = batch["observation"]
    action = policy(torch.cat([seen["image"], seen["state"]], dim=1))
    return functional.mse_loss(action, batch["action"])


EXERCISES = {
    "a": Prediction(
        setup="""
import torch
from torch.utils.data import DataLoader

data = torch.zeros(8, 3)
""",
        programs=(
            "batch = next(iter(DataLoader(data, batch_size=4, pin_memory=True)))",
            'batch = next(iter(DataLoader(data.to("cuda"), batch_size=4)))',
            'batch = next(iter(DataLoader(data, batch_size=4))); batch.to("cuda")',
            'with torch.device("cuda"): batch = next(iter(DataLoader(data)))',
            'with torch.device("cuda"): batch = next(iter(DataLoader(data, shuffle=True)))',
            'with torch.device("cuda"): batch = next(iter(DataLoader([1.0, 2.0])))',
        ),
        result="batch",
        on_wrong=(
            "Where are the items of the dataset, and does anything move them?",
            "Nothing moves by itself: a batch is where its items are. Pinned memory is a kind of main memory.",
            "A shuffling loader needs random numbers on the default device, and has a generator on the CPU.",
        ),
        about={3: "What does .to() return, and who keeps it?", 6: "A number has no device: who makes a tensor of it?"},
    ),
    "b": Exercise(
        parameters=("policy", "batch"),
        arguments=policy_arguments,
        reference=policy_reference,
        on_error=(
            "Print the type of every value in the batch.",
            "A dict is to be searched in turn, and a list of texts stays as it is.",
            "Write a function that calls itself for each value of a dict, and moves whatever is a tensor.",
        ),
        on_wrong_device="Move the batch to the policy's device; the policy and its output stay there.",
        on_wrong_numbers="The loss differs from the CPU's: move the tensors and leave the computation as it was.",
        result_on=0,
    ),
}
