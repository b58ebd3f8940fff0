"""The exercises of notebooks/19-hugging-face.ipynb; their solutions stand there, folded."""

from typing import Any

import torch
from torch import nn

from lessons.exercises import Exercise, Prediction
from lessons.exercises.staying import never_elsewhere


def prompts_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a model on the GPU that looks up the next token's scores, and two prompts of four tokens on the CPU."""
    return never_elsewhere(nn.Embedding(10, 10).to(devices[0]), devices[0]), torch.randint(10, (2, 4))


def prompts_reference(model: Any, prompt: Any) -> Any:
    for _ in range(3):
        prompt = torch.cat((prompt, model(prompt)[:, -1:].argmax(dim=-1)), dim=1)
    return prompt


EXERCISES = {
    "a": Prediction(
        setup="""
import torch
from transformers import BatchEncoding

inputs = BatchEncoding({"input_ids": torch.ones(1, 3, dtype=torch.long)})
ids = inputs["input_ids"]
""",
        programs=(
            'inputs.to("cuda"); result = inputs["input_ids"]',
            'inputs["input_ids"].to("cuda"); result = inputs["input_ids"]',
            'inputs.to("cuda"); result = ids',
            'other = inputs; other.to("cuda"); result = inputs["input_ids"]',
            'moved = {"input_ids": ids.to("cuda")}; result = inputs["input_ids"]',
            'inputs.to("cuda"); result = torch.cat([inputs["input_ids"], ids])',
        ),
        result="result",
        on_wrong="A batch moves in place: its .to() puts copies of the tensors into it. A tensor itself never moves.",
    ),
    "b": Exercise(
        parameters=("model", "prompt"),
        arguments=prompts_arguments,
        reference=prompts_reference,
        on_error="Print the device of tokens and of new above torch.cat: which tensor is tokens, the old or the moved?",
        on_wrong_device="Return the tokens where the model is, and leave the model there.",
        on_wrong_numbers="The tokens differ from the CPU's: return the prompt, and after it the three new tokens.",
        result_on=0,
    ),
}
