"""The exercises of notebooks/19-hugging-face.ipynb; their solutions stand there, folded."""

from typing import Any

import torch
from torch import nn

from lessons.exercises import Exercise, Prediction
from lessons.exercises.staying import CopiesAllowed, never_elsewhere

PROMPTS, TOKENS, NEW = 3, 6, 3


class Remembering(nn.Module):
    """A model that counts on with all it reads, as one with a cache does: a token given twice changes what follows."""

    def __init__(self) -> None:
        super().__init__()
        self.scores = nn.Embedding.from_pretrained(torch.eye(10))
        self.read: Any = 0

    def forward(self, tokens: Any) -> Any:
        """Return scores of the next token after each of (texts, tokens)."""
        counts = self.read + (tokens + 1).cumsum(dim=1)
        self.read = counts[:, -1:]
        return self.scores(counts % 10)


def prompts_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a model on the GPU that remembers what it has read, and prompts on the CPU."""
    return never_elsewhere(Remembering().to(devices[0]), devices[0]), torch.randint(10, (PROMPTS, TOKENS))


def prompts_reference(model: Any, prompt: Any) -> Any:
    tokens = [prompt]
    for _ in range(NEW):
        tokens.append(model(tokens[-1])[:, -1:].argmax(dim=-1))
    return torch.cat(tokens, dim=1)


def nothing_comes_back() -> CopiesAllowed:
    """Refuse to bring tokens to the CPU on the way; all of them at once may go there, to be compared."""
    return CopiesAllowed(
        lambda tensor, to: to.type != "cpu" or tensor.numel() >= PROMPTS * (TOKENS + NEW),
        "A token of the model goes back to the CPU. Leave it where the model is.",
    )


EXERCISES = {
    "a": Prediction(
        setup="""
import torch
from torch.nn import functional as F
from transformers import BatchEncoding, LlamaConfig, LlamaForSequenceClassification as Llama

config = LlamaConfig(vocab_size=8, hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=2,
                     pad_token_id=0)
model = Llama(config).to("cuda")
ids = torch.ones(2, 3, dtype=torch.long)
inputs = BatchEncoding({"input_ids": ids})
labels = torch.tensor([1, 0])
""",
        programs=(
            'inputs.to("cuda"); result = inputs["input_ids"]',
            'inputs["input_ids"].to("cuda"); result = inputs["input_ids"]',
            'inputs.to("cuda"); result = ids',
            'moved = dict(inputs.to("cuda")); result = moved["input_ids"]',
            'inputs.to("cuda"); result = model(**inputs, labels=labels).loss',
            'inputs.to("cuda"); result = F.cross_entropy(model(**inputs).logits, labels)',
        ),
        result="result",
        on_wrong=(
            "What does each line move: the batch, or a tensor of it?",
            "A batch moves in place: its .to() puts copies of the tensors into it. A tensor itself never moves.",
            "A loss that the model computes is transformers' own; F.cross_entropy is PyTorch's, and moves nothing.",
        ),
    ),
    "b": Exercise(
        parameters=("model", "prompt"),
        arguments=prompts_arguments,
        reference=prompts_reference,
        on_error=(
            "Print the device of tokens and of new above torch.cat.",
            "Which tensor is tokens, the old one or the moved one?",
            "Let tokens begin with the moved prompt.",
        ),
        on_wrong_device="Return the tokens where the model is, and leave the model there.",
        on_wrong_numbers=(
            "The tokens differ from the CPU's: return the prompt, and after it the three new tokens.",
            "The model remembers what it has read: give it the prompt once, and then each new token once.",
        ),
        result_on=0,
        inside=nothing_comes_back,
    ),
}
