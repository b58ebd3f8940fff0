"""The exercises of notebooks/15-device-agnostic-code.ipynb; their solutions stand there, folded."""

from typing import Any

import torch
from torch import nn

from lessons.exercises import Exercise
from lessons.exercises.staying import never_elsewhere


class Scaling(nn.Linear):
    """A linear layer that divides its input first, and adds how often it was called.

    So neither its weights or `forward` alone nor a second attempt, after an error, gives the same numbers.
    """

    calls = 0

    def __call__(self, *inputs: Any) -> Any:
        self.calls += 1
        return super().__call__(*inputs)

    def forward(self, batch: Any, spread: Any = 1.0) -> Any:
        return super().forward(batch / spread) + self.calls


def outputs_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Three runs, each a model and a batch: on the CPU, on the GPU, on the CPU; so "all but the first" is no answer."""
    places = [torch.device("cpu"), devices[0], torch.device("cpu")]
    models = [never_elsewhere(Scaling(3, 2).to(place), place) for place in places]
    return ([(model, torch.randn(4, 3).to(place)) for model, place in zip(models, places, strict=True)],)


def outputs_reference(runs: Any) -> Any:
    spread = torch.tensor([1.0, 2.0, 4.0])
    return torch.cat([model(batch, spread) for model, batch in runs])


def sample_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """A model on the GPU; a generator on the CPU that has drawn before, so that its seed alone does not tell it."""
    generator = torch.Generator().manual_seed(7)
    torch.randn(5, generator=generator)
    return never_elsewhere(Scaling(3, 2).to(devices[0]), devices[0]), generator


def sample_reference(model: Any, generator: Any) -> Any:
    return model(torch.randn(4, 3, generator=generator))


EXERCISES = {
    "a": Exercise(
        parameters=("runs",),
        arguments=outputs_arguments,
        reference=outputs_reference,
        on_error="The first run is on the CPU. What in the loop knows where its own run is?",
        on_wrong_numbers="The outputs differ from the CPU's: call each model once, with its batch and that spread.",
    ),
    "b": Exercise(
        parameters=("model", "generator"),
        arguments=sample_arguments,
        reference=sample_reference,
        on_error="The generator is on the CPU, and can draw there. What is left to do before the model is called?",
        on_wrong_numbers="Draw from the generator, once, on its own device; then call the model, once.",
        on_wrong_device="Leave the model on the GPU, and move the noise.",
        result_on=0,
    ),
}
