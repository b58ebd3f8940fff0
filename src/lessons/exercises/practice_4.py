"""The puzzles of notebooks/practice-4-libraries.ipynb; their solutions stand there, folded."""

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, init_device_mesh
from torch.nn import functional

from lessons.exercises import Exercise, RefusedError
from lessons.exercises.lesson_21 import in_the_group
from lessons.exercises.staying import EachCopy, never_elsewhere, never_fetched, never_moved, with_gradients

VOCABULARY = 384


def small_llama() -> Any:
    """Return a Llama that writes letters, with random weights."""
    from transformers import LlamaConfig, LlamaForCausalLM  # here, because it takes seconds

    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        pad_token_id=0,
        bos_token_id=None,
        eos_token_id=None,
    )
    model: Any = LlamaForCausalLM(config)
    return model.eval()


# 1: how surprising a text is


def surprise_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a language model on the GPU, a tokenizer and three texts."""
    from transformers import ByT5Tokenizer

    model = never_elsewhere(small_llama().to(devices[0]), devices[0])
    return model, ByT5Tokenizer(), ["a bright flat", "noisy", "too far"]


def surprise_reference(model: Any, tokenizer: Any, texts: Any) -> Any:
    inputs = tokenizer(texts, padding=True, return_tensors="pt")
    logits, ids = model(**inputs).logits[:, :-1], inputs["input_ids"][:, 1:]
    losses = functional.cross_entropy(logits.flatten(0, 1), ids.flatten(), ignore_index=0, reduction="none")
    return losses.view(len(texts), -1).sum(dim=1)


def logits_stay() -> EachCopy:
    """Refuse to bring the scores of all tokens to the CPU."""

    def look(tensor: Any, to: Any) -> None:
        if tensor.is_cuda and tensor.shape[-1:] == (VOCABULARY,):
            raise RefusedError(f"All scores were copied to {to}: {VOCABULARY} numbers for each token. Move the labels.")

    return EachCopy(look)


# 2: samples to look at


def samples_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a Trainer, which moves its model to the GPU, a dataset on the CPU and the numbers of some rows."""
    model, dataset = nn.Linear(6, 6), list(torch.randn(12, 6))
    if devices[0].type == "cpu":
        return SimpleNamespace(model=model), dataset, [7, 0, 4]
    from transformers import Trainer, TrainingArguments

    trainer = Trainer(model, TrainingArguments(tempfile.gettempdir(), report_to=[]), train_dataset=dataset)
    never_elsewhere(trainer.model, devices[0])
    return trainer, dataset, [7, 0, 4]


def samples_reference(trainer: Any, dataset: Any, rows: Any) -> Any:
    series = torch.stack([dataset[row] for row in rows])
    return (series - trainer.model(series)).abs().mean(dim=1)


def one_copy_of_the_samples() -> EachCopy:
    """Refuse to move each row, or the dataset: the rows that are asked for come in one copy."""
    copies = 0

    def look(tensor: Any, to: Any) -> None:
        nonlocal copies
        copies += to.type == "cuda"
        if copies > 2:
            raise RefusedError("More than two copies went to the GPU. Move the rows that are asked for, at once.")

    return EachCopy(look)


# 3: small matrices, added later


def adapter_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a frozen model on the GPU, the two matrices of an adapter on the CPU, and data on the GPU."""
    model = nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 1)).requires_grad_(False).to(devices[0])
    never_elsewhere(model[2], devices[0])
    down, up, x, y = torch.randn(2, 6) * 0.5, torch.randn(6, 2) * 0.5, torch.randn(16, 6), torch.randn(16, 1)
    return model, down, up, x.to(devices[0]), y.to(devices[0])


class Adapted(nn.Module):
    """A frozen layer with two small matrices beside it."""

    def __init__(self, base: nn.Module, down: Any, up: Any) -> None:
        super().__init__()
        self.base = base
        self.down, self.up = nn.Parameter(down), nn.Parameter(up)

    def forward(self, x: Any) -> Any:
        return self.base(x) + x @ self.down.T @ self.up.T


def adapter_reference(model: Any, down: Any, up: Any, x: Any, y: Any) -> Any:
    model[0] = Adapted(model[0], down, up)
    optimizer = torch.optim.SGD([model[0].down, model[0].up], lr=0.5)
    for _ in range(3):
        optimizer.zero_grad()
        functional.mse_loss(model(x), y).backward()
        optimizer.step()
    return model


def adapted_and_called(model: Any, devices: list[Any]) -> Any:
    """Return what a model says; refuse one whose parameters are on several devices."""
    if not isinstance(model, nn.Module):
        raise RefusedError(f"tune has to return the model, and returned {type(model).__name__!r}.")
    places = {str(parameter.device) for parameter in model.parameters()}
    if len(places) > 1:
        raise RefusedError(f"The parameters of the model are on {' and '.join(sorted(places))}. All belong on one.")
    trained = sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)
    if trained != 24:
        raise RefusedError(f"{trained} numbers learn. The adapter has 24, and the rest is frozen.")
    x = torch.linspace(-1, 1, 24).reshape(4, 6).to(places.pop())
    if x.device != devices[0]:
        return x  # it is told where the model is
    with torch.no_grad():
        return model(x)


# 4: words to avoid


def avoid_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a language model and a prompt on the GPU, and the numbers of the tokens to avoid."""
    model = never_elsewhere(small_llama().to(devices[0]), devices[0])
    prompt = torch.randint(3, 259, (2, 5)).to(devices[0])
    return model, never_fetched(prompt), list(range(0, VOCABULARY, 2))


def avoid_reference(model: Any, prompt: Any, banned: Any) -> Any:
    table = torch.zeros(VOCABULARY)
    table[banned] = float("-inf")
    for _ in range(4):
        scores = model(prompt).logits[:, -1] + table
        prompt = torch.cat([prompt, scores.argmax(dim=1, keepdim=True)], dim=1)
    return prompt


def the_table_comes_once() -> EachCopy:
    """Refuse to bring a table of all words to the GPU twice, and scores to the CPU."""
    copies = 0

    def look(tensor: Any, to: Any) -> None:
        nonlocal copies
        if tensor.is_cuda and tensor.shape[-1:] == (VOCABULARY,):
            raise RefusedError("All scores were copied to the CPU. They stay where the model is.")
        copies += to.type == "cuda" and tensor.numel() >= VOCABULARY // 2
        if copies > 1:
            raise RefusedError("The table was copied for every new token. Once is enough.")

    return EachCopy(look)


# 5: pictures among the words


def pictures_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a vision layer, pictures and ids on the first GPU, and an embedding on the second."""
    vision, embedding = nn.Linear(5, 8).to(devices[0]), nn.Embedding(10, 8).to(devices[1])
    never_moved(vision, f"vision was moved. It has to stay on {devices[0]}.")
    never_moved(embedding, f"embedding was moved. It has to stay on {devices[1]}.")
    ids = torch.tensor([[1, 7, 7, 2], [3, 4, 7, 5]])
    return embedding, vision, ids.to(devices[0]), torch.randn(3, 5).to(devices[0])


def pictures_reference(embedding: Any, vision: Any, ids: Any, pictures: Any) -> Any:
    words = embedding(ids)
    words[ids == 7] = vision(pictures)
    return words


def words_stay() -> EachCopy:
    """Refuse to bring the vectors of all words to a GPU."""

    def look(tensor: Any, to: Any) -> None:
        if to.type == "cuda" and tensor.numel() == 64:
            raise RefusedError(f"The vectors of all words were copied to {to}. They stay where embedding is.")

    return EachCopy(look)


# 6: positions between the layers


def between_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return four layers and what is added after each, on the CPU, and an input on the first GPU."""
    layers = [nn.Linear(6, 6) for _ in range(4)]
    for number, layer in enumerate(layers):
        stays(layer, number, devices[number // 2])
    return layers, list(torch.randn(4, 6)), torch.randn(16, 6).to(devices[0])


def stays(layer: nn.Module, number: int, device: Any) -> None:
    """Refuse to call a layer on another GPU than the map says."""

    def refuse(module: nn.Module, inputs: tuple[Any, ...]) -> None:
        if module.weight.device != device:
            raise RefusedError(f"Layer {number} computes on {module.weight.device}. The map says {device}.")

    layer.register_forward_pre_hook(refuse)


def between_reference(layers: Any, middle: Any, x: Any) -> Any:
    for layer, each in zip(layers, nn.ParameterList(middle), strict=True):
        x = layer(x) + each
    return x


def one_border() -> EachCopy:
    """Refuse to carry the activations more often than over the border and back."""
    copies = 0

    def look(tensor: Any, to: Any) -> None:
        nonlocal copies
        copies += tensor.is_cuda and to.type == "cuda" and tensor.numel() > 36
        if copies > 2:
            raise RefusedError("The activations cross more than twice. What is added is smaller.")

    return EachCopy(look)


# 7: a model without memory


def waves() -> Any:
    return 0.5 ** torch.arange(6)


class Waves(nn.Module):
    """A layer after sines, whose frequencies are in no checkpoint."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(6, 4)
        self.register_buffer("waves", waves(), persistent=False)

    def forward(self, x: Any) -> Any:
        return self.layer((x * self.waves).sin())


def meta_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return the state of a trained model, on the CPU."""
    return (Waves().state_dict(),)


def meta_reference(state: Any) -> Any:
    model = Waves()
    model.load_state_dict(state)
    return model


def called_with_waves(model: Any, _: list[Any]) -> Any:
    """Return what a model says, where it is."""
    if not isinstance(model, nn.Module):
        raise RefusedError(f"load has to return a model, and returned {type(model).__name__!r}.")
    if not all(parameter.requires_grad for parameter in model.parameters()):
        raise RefusedError("A weight of the model cannot learn any more.")
    x = torch.linspace(-3, 3, 24).reshape(4, 6).to(next(model.parameters()).device)
    with torch.no_grad():
        return model(x)


@contextlib.contextmanager
def no_memory_twice() -> Iterator[None]:
    """Refuse to compute first weights, which the state replaces; new memory is filled with nan, so that it shows."""
    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    reset = nn.Linear.reset_parameters

    def reset_parameters(layer: nn.Linear) -> None:
        if layer.weight.device.type != "meta":
            raise RefusedError(f"First weights were computed on {layer.weight.device}, for nothing. Build it on meta.")
        reset(layer)

    torch.use_deterministic_algorithms(True)
    try:
        with mock.patch.object(nn.Linear, "reset_parameters", reset_parameters):
            yield
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])


# 8: one norm for all


def clip_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a model of which one layer is sharded, with gradients, and the limit of their norm."""
    model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
    fully_shard(model[0], mesh=init_device_mesh("cpu", (1,)))
    model(torch.randn(16, 3)).square().sum().backward()
    return model, 0.5


def clip_reference(model: Any, limit: Any) -> Any:
    with torch.no_grad():
        total = torch.stack([whole(p.grad).norm() for p in model.parameters()]).norm()
        for parameter in model.parameters():
            parameter.grad *= limit / total
    return model


def whole(tensor: Any) -> Any:
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def gradients_of(model: Any, _: list[Any]) -> Any:
    """Return all gradients of a model; refuse one that is no longer sharded as its weight."""
    if not isinstance(model, nn.Module):
        raise RefusedError(f"clip has to return the model, and returned {type(model).__name__!r}.")
    for name, parameter in model.named_parameters():
        if isinstance(parameter, DTensor) != isinstance(parameter.grad, DTensor):
            raise RefusedError(f"The gradient of {name} is not spread as its weight any more.")
    return torch.cat([whole(parameter.grad).flatten() for parameter in model.parameters()])


@contextlib.contextmanager
def only_numbers_are_fetched() -> Iterator[None]:
    """Refuse what would be right in a group of one alone, and to fetch a whole gradient."""
    full = DTensor.full_tensor

    def everywhere(tensor: Any) -> bool:
        return all(placement.is_replicate() for placement in tensor.placements)

    def full_tensor(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        if tensor.numel() > 1:
            raise RefusedError("Every rank fetches a whole gradient here. A single number is enough.")
        return full(tensor, *args, **kwargs)

    def local(name: str) -> Callable[..., Any]:
        read = getattr(DTensor, name)

        def refuse(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            if not everywhere(tensor):
                raise RefusedError(f"{name}() reads what this rank has of a DTensor. The norm is that of all ranks.")
            return read(tensor, *args, **kwargs)

        return refuse

    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(DTensor, "full_tensor", full_tensor))
        for name in ("to_local", "item", "tolist", "__float__"):
            stack.enter_context(mock.patch.object(DTensor, name, local(name)))
        yield


EXERCISES = {
    "1": Exercise(
        parameters=("model", "tokenizer", "texts"),
        arguments=surprise_arguments,
        reference=surprise_reference,
        on_error=(
            "The message says target. Which name of this function is that, and where was it taken?",
            "labels is the tensor that the batch held before it moved. The batch holds a new one now.",
            'Take labels = inputs["input_ids"] below the line that moves the batch.',
        ),
        on_wrong_numbers="The losses differ from the CPU's: each token against the scores of the place before it.",
        on_wrong_device="Leave the losses where the model is.",
        result_on=0,
        around=logits_stay,
    ),
    "2": Exercise(
        parameters=("trainer", "dataset", "rows"),
        arguments=samples_arguments,
        reference=samples_reference,
        on_error=(
            "Where is the model, and who moved it? Where are the rows of the dataset?",
            "The Trainer moved the model when it was created. In training it moves batches, but this is no training.",
            "Bring series to the model: next(trainer.model.parameters()).device.",
        ),
        on_wrong_numbers="Return the mean error of each row, in the order of rows.",
        on_wrong_device="Leave the errors where the model is, and leave the model there.",
        result_on=0,
        around=one_copy_of_the_samples,
    ),
    "3": Exercise(
        parameters=("model", "down", "up", "x", "y"),
        arguments=adapter_arguments,
        reference=adapter_reference,
        on_error=(
            "The model was moved before this function began. Which of its parameters are younger?",
            "The adapter's matrices come from the CPU, and nobody moved the model after they were added.",
            "Move the model once more, when the adapter is in it. Or make the parameters of matrices that were moved.",
        ),
        on_wrong_numbers="Three steps train the two matrices of the adapter, and nothing else.",
        on_wrong_device="Leave the model on the GPU, and bring the adapter to it.",
        result_on=0,
        use=adapted_and_called,
    ),
    "4": Exercise(
        parameters=("model", "prompt", "banned"),
        arguments=avoid_arguments,
        reference=avoid_reference,
        on_error=(
            "generate calls the processor for every new token. Where are the scores, and where is the table?",
            "Nobody moves what a processor keeps. It sees the right device in scores.",
            "Keep the moved one: self.table = self.table.to(scores.device). The next time, this copies nothing.",
        ),
        on_wrong_numbers="Return the prompt and four new tokens, the likeliest that are not banned.",
        on_wrong_device="Leave the tokens where the model is.",
        result_on=0,
        around=the_table_comes_once,
    ),
    "5": Exercise(
        parameters=("embedding", "vision", "ids", "pictures"),
        arguments=pictures_arguments,
        reference=pictures_reference,
        on_error=(
            "Three tensors meet in the assignment: words, the index and the values. Where is each?",
            "The values have to be where words is. backward reads with the same index, so that has to be there, too.",
            "Move what vision returns to words.device, and compute the index from the ids that were moved.",
        ),
        on_wrong_numbers="The vectors or their gradients differ from the CPU's: a .to() keeps both.",
        on_wrong_device="Leave the vectors where embedding is.",
        result_on=1,
        use=with_gradients,
        around=words_stay,
    ),
    "6": Exercise(
        parameters=("layers", "middle", "x"),
        arguments=between_arguments,
        reference=between_reference,
        on_error=(
            "At which layer does it fail, and where are the two tensors of the line?",
            "The hooks bring x to each layer. They do not see the +, and middle is on one GPU as a whole.",
            "Keep the layer's output as x, and add each.to(x.device).",
        ),
        on_wrong_numbers="After each layer, its own tensor of middle is added.",
        on_wrong_device="The model's hook brings the result back to where the input was. Leave it there.",
        result_on=0,
        around=one_border,
    ),
    "7": Exercise(
        parameters=("state",),
        arguments=meta_arguments,
        reference=meta_reference,
        on_error=(
            "Which tensors of the model are still on meta after load_state_dict? Print parameters and buffers.",
            "persistent=False keeps waves out of the state, so nothing loads it.",
            "Compute waves again before the model moves, outside of the with block: model.waves = ...",
        ),
        on_wrong_numbers=(
            "Is yours nan? Which tensor has new memory, and who filled it?",
            "to_empty gives memory to buffers, too, and the state has no waves. Compute them again.",
        ),
        on_wrong_device="Return the model on the GPU.",
        result_on=0,
        use=called_with_waves,
        around=no_memory_twice,
    ),
    "8": Exercise(
        parameters=("model", "limit"),
        arguments=clip_arguments,
        reference=clip_reference,
        on_error=(
            "Which gradients are DTensors, and is total one? The first layer is sharded, and the last one is not.",
            "A single plain number may meet DTensors, but a DTensor may not meet a plain gradient.",
            "total is a DTensor with one number. total.full_tensor() is that number as a plain tensor.",
        ),
        on_wrong_numbers="The norm is that of all gradients together, and each is multiplied by limit / total.",
        use=gradients_of,
        inside=in_the_group,
        around=only_numbers_are_fetched,
    ),
}
