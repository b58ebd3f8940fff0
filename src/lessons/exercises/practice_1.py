"""The puzzles of notebooks/practice-1-start-here.ipynb; their solutions stand there, folded."""

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from lessons.exercises import Exercise, RefusedError
from lessons.exercises.staying import CopiesAllowed, CopiesToGPU, never_elsewhere

IN_EACH_STEP = "A tensor is copied to the GPU in each step. Copy it once, before the loop."


def learn(optimizer: Any, loss: Any) -> None:
    """Take one step of training."""
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def projector_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a convolution on the GPU; three batches of photos and of what they should become, on the CPU."""
    batches = [(torch.randn(2, 3, 6, 6), torch.randn(2, 3, 6, 6)) for _ in range(3)]
    return never_elsewhere(nn.Conv2d(3, 3, 3, padding=1).to(devices[0]), devices[0]), batches


def projector_reference(model: Any, batches: Any) -> Any:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for photo, target in batches:
        loss = functional.mse_loss(model(photo), target)
        learn(optimizer, loss)
    return loss.detach()


def crops_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a classifier on the GPU; two batches on the CPU: three crops of each face in a list, and the labels."""
    batches = [([torch.randn(4, 6) for _ in range(3)], torch.randint(2, (4,))) for _ in range(2)]
    return never_elsewhere(nn.Linear(6, 2).to(devices[0]), devices[0]), batches


def crops_reference(model: Any, batches: Any) -> Any:
    return sum(functional.cross_entropy(sum(model(crop) for crop in crops), label) for crops, label in batches)


def faces_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a model and ten batches on the GPU, and a head on the CPU."""
    model, head = nn.Linear(6, 4).to(devices[0]), nn.Linear(4, 3, bias=False)
    batches = [(torch.randn(8, 6).to(devices[0]), torch.randint(3, (8,)).to(devices[0])) for _ in range(10)]
    return never_elsewhere(model, devices[0]), head, batches


def faces_reference(model: Any, head: Any, batches: Any) -> Any:
    optimizer = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.5)
    for face, person in batches:
        directions = functional.normalize(head.weight)
        loss = functional.cross_entropy(8 * functional.normalize(model(face)) @ directions.T, person)
        learn(optimizer, loss)
    return loss.detach()


class Stretch(nn.Module):
    """A model that adds an advance to each row of a sound; the advance is a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(8, 1))
        self.advance = nn.Buffer(torch.linspace(0, 3, 8)[:, None])

    def forward(self, sound: Any) -> Any:
        return sound * self.gain + self.advance


def stretched(model: Any, devices: list[Any]) -> Any:
    """Move a model there and back and call it ten times each; refuse what is trained too much, or moved by a call."""
    if not isinstance(model, nn.Module):
        raise RefusedError(f"stretch has to return a model, and returned {type(model).__name__!r}.")
    if sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad) != 8:
        raise RefusedError("An optimizer has to train the gain, and nothing else. Look at model.parameters().")
    model.to(devices[0])
    sounds = torch.randn(10, 8, 5, generator=torch.Generator().manual_seed(4)).to(devices[0])
    with CopiesToGPU("A call copies a tensor to the GPU. Only the move may do that.", in_all=0):
        there = torch.stack([model(sound) for sound in sounds])
    back = on_the_cpu_again(model, sounds.cpu())
    return torch.stack([there, back.to(there.device)])


def on_the_cpu_again(model: nn.Module, xs: Any) -> Any:
    """Move a model back to the CPU and call it there for each x; where that fails, say so: the GPU's call did not."""
    model.to("cpu")
    try:
        return torch.stack([model(x) for x in xs])
    except RuntimeError as error:
        message = str(error).splitlines()[0]
        raise RefusedError(f'It works on the GPU. After model.to("cpu"), a call on the CPU fails: {message}') from None


def rare_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a classifier and ten batches on the GPU; how many there are of each class, as numbers."""
    model = never_elsewhere(nn.Linear(5, 3).to(devices[0]), devices[0])
    batches = [(torch.randn(6, 5).to(devices[0]), torch.randint(3, (6,)).to(devices[0])) for _ in range(10)]
    return model, batches, [90, 8, 2]


def rare_reference(model: Any, batches: Any, counts: Any) -> Any:
    weight = max(counts) / torch.tensor(counts)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for x, label in batches:
        loss = functional.cross_entropy(model(x), label, weight=weight)
        learn(optimizer, loss)
    return loss.detach()


def depths_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return the depths that three stages found, which need gradients, and the true ones, all on the GPU."""
    depths = [torch.randn(2, size, size).to(devices[0]).requires_grad_() for size in (2, 4, 8)]
    return depths, [torch.randn(2, size, size).to(devices[0]) for size in (2, 4, 8)]


def depths_reference(depths: Any, truths: Any) -> Any:
    return torch.stack([functional.smooth_l1_loss(depth, truth) for depth, truth in zip(depths, truths, strict=True)])


def songs_arguments(devices: list[Any]) -> tuple[Any, ...]:
    """Return a GRU and a head, and two epochs of three batches that follow each other, all on the GPU."""
    gru, head = nn.GRU(3, 6, batch_first=True), nn.Linear(6, 1)
    with torch.no_grad():  # large weights: what the state does has to be seen in the loss
        for parameter in [*gru.parameters(), *head.parameters()]:
            parameter.mul_(3)
    gru, head = (never_elsewhere(module.to(devices[0]), devices[0]) for module in (gru, head))

    def batch() -> tuple[Any, Any]:
        return torch.randn(4, 5, 3).to(devices[0]), torch.randn(4, 5, 1).to(devices[0])

    return gru, head, [[batch() for _ in range(3)] for _ in range(2)]


def songs_reference(gru: Any, head: Any, epochs: Any) -> Any:
    optimizer = torch.optim.SGD([*gru.parameters(), *head.parameters()], lr=0.05)
    losses = []
    for batches in epochs:
        hidden = None
        for part, following in batches:
            output, hidden = gru(part, hidden)
            loss = functional.mse_loss(head(output), following)
            learn(optimizer, loss)
            losses.append(loss.detach())
            hidden = hidden.detach()
    return torch.stack(losses)


class Mixture(nn.Module):
    """A model that mixes what two experts say, as a gate decides; all of it is registered."""

    def __init__(self, gate: Any, experts: Any, mean: Any) -> None:
        super().__init__()
        self.gate, self.experts, self.mean = gate, nn.ModuleList(experts), nn.Buffer(mean)
        self.norm = nn.LayerNorm(3)

    def forward(self, x: Any) -> Any:
        x = x - self.mean
        shares = self.gate(x).softmax(dim=1)
        return self.norm(sum(share[:, None] * expert(x) for share, expert in zip(shares.T, self.experts, strict=True)))


def mixture_arguments(_: list[Any]) -> tuple[Any, ...]:
    """Return a gate, two experts and the mean of the data, all on the CPU."""
    return nn.Linear(4, 2), [nn.Linear(4, 3), nn.Linear(4, 3)], torch.tensor([1.0, 2.0, 3.0, 4.0])


def mixed(model: Any, devices: list[Any]) -> Any:
    """Move a model, train it for two steps, and return what it says then, there and on the CPU; no call may copy."""
    if not isinstance(model, nn.Module):
        raise RefusedError(f"mixture has to return a model, and returned {type(model).__name__!r}.")
    if any(parameter.shape == (4,) for parameter in model.parameters() if parameter.requires_grad):
        raise RefusedError("The mean is a parameter here, so an optimizer would train it.")
    model.to(devices[0])
    random = torch.Generator().manual_seed(5)
    x, y = torch.randn(8, 4, generator=random).to(devices[0]), torch.randn(8, 3, generator=random).to(devices[0])
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    with CopiesToGPU("A call copies a tensor to the GPU. model.to(...) has to find all of the model.", in_all=0):
        for _ in range(2):
            learn(optimizer, functional.mse_loss(model(x), y))
        there = model(x)
    return torch.cat([there, on_the_cpu_again(model, x.cpu()[None])[0].to(there.device)])


EXERCISES = {
    "1": Exercise(
        parameters=("model", "batches"),
        arguments=projector_arguments,
        reference=projector_reference,
        on_error=(
            "The line above seems to move the photo. On which device is it one line later? Print photo.device.",
            "A tensor does not move. What does photo.to(...) return, and who keeps it?",
            "Keep the copies: photo = photo.to(...), and the same for the target.",
        ),
        on_wrong_numbers="The loss differs from the CPU's: keep the copies, and leave the training as it was.",
        on_wrong_device="Train where the model is: bring the batches to it.",
        result_on=0,
    ),
    "2": Exercise(
        parameters=("model", "batches"),
        arguments=crops_arguments,
        reference=crops_reference,
        on_error=(
            "What is `crops`? Print type(crops), and the type and the device of its first item.",
            "A list has no device and no .to. The tensors in it have both.",
            "Make a new list of moved tensors: [crop.to(...) for crop in crops].",
        ),
        on_wrong_numbers="The sum differs from the CPU's: use each crop once, and leave the computation as it was.",
        on_wrong_device="Compute where the model is: move the crops and the labels there.",
        result_on=0,
    ),
    "3": Exercise(
        parameters=("model", "head", "batches"),
        arguments=faces_arguments,
        reference=faces_reference,
        on_error=(
            "The message names an argument. Which tensor of the line was passed for it, and whose is it?",
            "The right one of a product is `mat2`: the directions, made of head.weight. Where is the head?",
            "The head is a module as the model is. Move it once, before the loop.",
        ),
        on_wrong_numbers=(
            "Do both learn? Print a number of head.weight before and after training.",
            ".data, .detach() and torch.no_grad() give a tensor without a history: the optimizer gets no gradient.",
            "Use head.weight as it is, and move the head itself.",
        ),
        on_wrong_device="Train on the GPU: move the head to the model.",
        result_on=0,
        around=lambda: CopiesToGPU(IN_EACH_STEP, in_all=2),
    ),
    "4": Exercise(
        parameters=(),
        arguments=lambda _: (),
        reference=Stretch,
        on_error=(
            "Which tensors does the sum have, and what has the model registered? where(Stretch()) shows it.",
            "A move takes parameters and buffers. `advance` is neither: it is a plain attribute.",
            "Make it nn.Buffer(...) or use register_buffer: the move then takes it along, there and back.",
        ),
        on_wrong_numbers="The result differs from the CPU's: register the advance, and leave its numbers as they are.",
        on_wrong_device="Return the model, and let check move it.",
        result_on=0,
        use=stretched,
    ),
    "5": Exercise(
        parameters=("model", "batches", "counts"),
        arguments=rare_arguments,
        reference=rare_reference,
        on_error=(
            "Which argument does the message name, and which line creates it?",
            "torch.tensor creates on the CPU, and what it is made of here are numbers.",
            "Create the weight where the model is, before the loop: torch.tensor(..., device=...).",
        ),
        on_wrong_numbers="The loss differs from the CPU's: use the weights in each step, and do not change them.",
        on_wrong_device="Train on the GPU: only the weights have to move.",
        result_on=0,
        around=lambda: CopiesToGPU(IN_EACH_STEP, in_all=2),
    ),
    "6": Exercise(
        parameters=("depths", "truths"),
        arguments=depths_arguments,
        reference=depths_reference,
        on_error=(
            "Into which tensor does the failing line write, and where is that?",
            "The destination of += does not move, and the losses of the stages are on the GPU.",
            "Create `losses` where the depths are: device=depths[0].device.",
        ),
        on_wrong_numbers="The losses differ from the CPU's: there is one for each stage.",
        on_wrong_device=(
            "On which device was `losses` created? An assignment copies into it, and does not move it.",
            "Create it where the depths are.",
        ),
        result_on=0,
        around=lambda: CopiesAllowed(
            lambda tensor, _: tensor.numel() == 3,
            "A tensor is copied to the CPU on the way, so the CPU waits for the GPU. Keep it on the GPU.",
        ),
    ),
    "7": Exercise(
        parameters=("gru", "head", "epochs"),
        arguments=songs_arguments,
        reference=songs_reference,
        on_error=(
            "One epoch ran. What is different in the first batch of the second?",
            "The last line of an epoch gives the name `hidden` to another tensor. Where is that one created?",
            "Create it where the old one is, or begin the epoch with None, as the first one does.",
        ),
        on_wrong_numbers=(
            "In which epoch do the losses begin to differ? There are three for each.",
            "A new epoch begins at the beginning of the songs: with a state of zeros.",
        ),
        on_wrong_device="Train on the GPU, and leave the losses there.",
        result_on=0,
    ),
    "8": Exercise(
        parameters=("gate", "experts", "mean"),
        arguments=mixture_arguments,
        reference=Mixture,
        on_error=(
            "Make a model of your own and show it: where(mixture(nn.Linear(4, 2), ...)). What is not registered?",
            "Two things are left behind: one is a plain tensor, one is in a dict, where nobody looks.",
            "Use nn.Buffer for the tensor, and nn.ModuleDict or nn.ModuleList for the layers.",
        ),
        on_wrong_numbers=(
            "check trains the model for two steps. Does every layer learn? Look at named_parameters().",
            "A layer on the right device that is not registered is not trained: the optimizer does not know it.",
            "Register the experts with nn.ModuleDict, and the mean with nn.Buffer, which is not trained.",
        ),
        on_wrong_device="Return the model, and let check move it.",
        result_on=0,
        use=mixed,
    ),
}
