"""Guards for exercises in which things have to stay where they are: elsewhere, the numbers would be right too."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils._python_dispatch import TorchDispatchMode

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


def never_moved(module: nn.Module, said: str) -> nn.Module:
    """Return the module; a call that moves it raises, with what is said: it has to stay where it is."""
    apply = module._apply

    def moves_nothing(*args: Any, **kwargs: Any) -> Any:
        before = [parameter.device for parameter in module.parameters()]
        moved = apply(*args, **kwargs)
        if [parameter.device for parameter in module.parameters()] != before:
            raise RefusedError(said)
        return moved

    module._apply = moves_nothing
    return module


class EachCopy(TorchDispatchMode):
    """A context that shows every copy between two devices, whatever call made it, to a function that may refuse it.

    Args:
        look: called with the tensor to copy and the device to copy it to.
    """

    def __init__(self, look: Callable[[Any, Any], None]) -> None:
        super().__init__()
        self.look = look

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        source, target = None, None
        if func is torch.ops.aten._to_copy.default:
            source, target = args[0], kwargs.get("device")
        elif func is torch.ops.aten.copy_.default:
            source, target = args[1], args[0].device
        if source is not None and target is not None and torch.device(target) != source.device:
            self.look(source, torch.device(target))
        return func(*args, **kwargs)


class CopiesAllowed(EachCopy):
    """A context in which a copy that leaves a GPU raises, unless it is allowed; whatever call made it is seen.

    Args:
        allows: called with the tensor to copy and the device to copy it to.
        otherwise: what the reader is told, a whole sentence.
    """

    def __init__(self, allows: Callable[[Any, Any], bool], otherwise: str) -> None:
        super().__init__(self._look)
        self.allows, self.otherwise = allows, otherwise

    def _look(self, source: Any, to: Any) -> None:
        if source.is_cuda and not self.allows(source, to):
            raise RefusedError(self.otherwise)


class CopiesToGPU(EachCopy):
    """A context in which copies from the CPU to a GPU are counted, and one too many raises; whatever call made it.

    A copy inside a loop is found by its source: the same memory is copied in each round, or a new tensor is made there
    each time. `torch.tensor(numbers, device="cuda")` is no copy of a tensor, and is not counted.

    Args:
        of_one: how often the same tensor may be copied, whatever view of it.
        in_all: how many copies there may be together; None for any number.
        otherwise: what the reader is told, a whole sentence.
    """

    def __init__(self, otherwise: str, of_one: int = 1, in_all: int | None = None) -> None:
        super().__init__(self._look)
        self.otherwise, self.of_one, self.in_all = otherwise, of_one, in_all
        self._copied: list[torch.Tensor] = []  # kept, so that no other tensor gets the same memory

    def _look(self, source: Any, to: Any) -> None:
        if source.is_cuda or to.type != "cuda":
            return
        self._copied.append(source)
        of_this = sum(source.data_ptr() == copied.data_ptr() for copied in self._copied)
        if of_this > self.of_one or (self.in_all is not None and len(self._copied) > self.in_all):
            raise RefusedError(self.otherwise)


def with_gradients(result: Any, _: list[Any]) -> Any:
    """Return a result and the length of all gradients that flow from it into parameters, as one tensor."""
    if not isinstance(result, torch.Tensor) or not result.requires_grad:
        return result
    nodes, seen, leaves = [result.grad_fn], set(), []
    while nodes:
        node = nodes.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        leaves += [node.variable] if hasattr(node, "variable") else []
        nodes += [following for following, _ in node.next_functions]
    gradients = torch.autograd.grad(result.square().sum(), leaves, retain_graph=True)
    length = sum(gradient.detach().cpu().square().sum() for gradient in gradients)
    return torch.cat([result.flatten(), length.reshape(1).to(result.device)])


def plain_wrapper() -> DistributedDataParallel:
    """Return the DistributedDataParallel through which a model is called; refuse none, and one that waits for less.

    In one process the numbers would be right without it, too.
    """
    wrapper = DistributedDataParallel._active_ddp_module
    if wrapper is None:
        raise RefusedError("The model has to be called through DistributedDataParallel.")
    if wrapper.find_unused_parameters or wrapper.static_graph:
        raise RefusedError("find_unused_parameters and static_graph have to stay off.")
    if not wrapper.require_backward_grad_sync:
        raise RefusedError("In no_sync the gradients are not averaged.")
    return wrapper
