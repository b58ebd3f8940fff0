"""Guards for exercises in which things have to stay where they are: elsewhere, the numbers would be right too."""

from typing import Any

from torch import nn

from lessons.exercises.kinds import RefusedError


def never_elsewhere(module: nn.Module, device: Any) -> nn.Module:
    """Return the module; a call with all of it on another device raises: the numbers would be right there too."""

    def refuse(module: nn.Module, inputs: tuple[Any, ...]) -> None:
        places = {tensor.device for tensor in [*module.parameters(), *inputs[:1]]}
        if device not in places:
            raise RefusedError(f"All of it is on {places.pop()} here. Compute on {device}.")

    module.register_forward_pre_hook(refuse)
    return module


def never_fetched(tensor: Any) -> Any:
    """Return the tensor; moving it raises: what is computed elsewhere could be moved back. It can be printed."""
    move, where = tensor.to, tensor.device

    def to(*args: Any, **kwargs: Any) -> Any:
        moved = move(*args, **kwargs)
        if moved.device != where:
            raise RefusedError(f"What is on {where} has to stay there.")
        return moved

    tensor.to, tensor.cpu = to, lambda: to("cpu")
    tensor.cuda = lambda device="cuda": to(device)
    return tensor
