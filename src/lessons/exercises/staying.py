"""For exercises in which a module has to compute where it is: elsewhere the numbers would be right as well."""

from typing import Any

from torch import nn


def never_elsewhere(module: nn.Module, device: Any) -> nn.Module:
    """The module; a call with all of it on another device raises, as the numbers would be right there, too."""

    def refuse(module: nn.Module, inputs: tuple[Any, ...]) -> None:
        places = {tensor.device for tensor in [*module.parameters(), *inputs[:1]]}
        if device not in places:
            raise RuntimeError(f"here all is on {places.pop()}: leave on {device} what is there.")

    module.register_forward_pre_hook(refuse)
    return module
