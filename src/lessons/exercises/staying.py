"""For exercises in which all has to stay where it is: computed elsewhere, the numbers would be right as well."""

from typing import Any

from torch import nn


def never_elsewhere(module: nn.Module, device: Any) -> nn.Module:
    """The module; a call with all of it on another device raises, as the numbers would be right there, too."""

    def refuse(module: nn.Module, inputs: tuple[Any, ...]) -> None:
        places = {tensor.device for tensor in [*module.parameters(), *inputs[:1]]}
        if device not in places:
            raise RuntimeError(f"here all is on {places.pop()}: compute on {device}.")

    module.register_forward_pre_hook(refuse)
    return module


def never_fetched(tensor: Any) -> Any:
    """The tensor; to move it elsewhere raises, as what is computed there could be moved back. It can be printed."""
    move, where = tensor.to, tensor.device

    def to(*args: Any, **kwargs: Any) -> Any:
        moved = move(*args, **kwargs)
        if moved.device != where:
            raise RuntimeError(f"leave on {where} what is there.")
        return moved

    tensor.to, tensor.cpu = to, lambda: to("cpu")
    tensor.cuda = lambda device="cuda": to(device)
    return tensor
